from collections.abc import Iterator

from transformers import AutoTokenizer

#: slot tokenizer
MASK = "[MASK]"  # marks a masked token in your texts, for any tokenizer


class Tokenizer:
    """The tokenizer of the pretrained model."""

    def __init__(self, name: str) -> None:
        try:
            self.tokenizer = AutoTokenizer.from_pretrained(name)
        except (OSError, ValueError) as error:
            raise SystemExit(f"The tokenizer of {name!r} can't be loaded: {error}") from error
        self.mask, self.size = self.tokenizer.mask_token_id, len(self.tokenizer)
        if self.mask is None:
            raise SystemExit(f"The tokenizer of {name!r} has no mask token: choose an encoder.")
        if not self.tokenizer.is_fast:
            raise SystemExit(
                f"The tokenizer of {name!r} is slow: it does not say to which word a "
                "token belongs: choose a model with a tokenizer.json."
            )

    def encode(self, texts: list[str], length: int) -> Iterator[tuple[list[int], list[int]]]:
        """Blocks of up to `length` tokens, and the index of each token's word; -1: none."""
        settings = {"truncation": True, "max_length": length, "return_overflowing_tokens": True}
        for text in texts:
            batch = self.tokenizer(text, **settings)
            for block, tokens in enumerate(batch["input_ids"]):
                words = [-1 if word is None else word for word in batch.word_ids(block)]
                if max(words) >= 0:  # skip empty texts
                    yield tokens, words

    def encode_masked(self, text: str) -> list[int]:
        """The tokens of a text with the mask in it."""
        return self.tokenizer(text.replace(MASK, self.tokenizer.mask_token))["input_ids"]

    def decode(self, tokens: list[int]) -> str:
        return self.tokenizer.decode(tokens, skip_special_tokens=True)

    def save_pretrained(self, folder) -> None:
        self.tokenizer.save_pretrained(folder)


@cache
def build_tokenizer(config) -> Tokenizer:
    return Tokenizer(config.pretrained_name)
