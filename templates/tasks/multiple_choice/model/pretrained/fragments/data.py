from collections.abc import Iterator

from transformers import AutoTokenizer, PreTrainedTokenizerBase

#: slot tokenizer
@cache
def build_tokenizer(config) -> PreTrainedTokenizerBase:
    """The tokenizer of the pretrained model, which can tell texts and choices apart."""
    name = config.pretrained_name
    try:
        tokenizer = AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError) as error:
        raise SystemExit(f"The tokenizer of {name!r} can't be loaded: {error}") from error
    if not tokenizer.is_fast:
        raise SystemExit(
            f"The tokenizer of {name!r} is slow: it does not say where a choice begins: "
            "choose a model with a tokenizer.json."
        )
    return tokenizer


def encode(pairs: list[tuple[str, str]], config) -> Iterator[tuple[list[int], int]]:
    """The tokens of each text and its choice, and the first one of the choice.

    If it is too long, the longer of the two is cut at the end.
    """
    tokenizer, most, size = build_tokenizer(config), config.max_length, 1000
    for begin in range(0, len(pairs), size):
        # to cut two long texts, the tokenizer needs memory for the product of their lengths
        contexts, choices = (
            [shorten(text, most, tokenizer) if len(text) > 4 * most else text for text in texts]
            for texts in zip(*pairs[begin : begin + size], strict=True)
        )
        batch = tokenizer(contexts, choices, truncation="longest_first", max_length=most)
        for row, tokens in enumerate(batch["input_ids"]):
            parts = batch.sequence_ids(row)  # a choice of only whitespace has no tokens
            yield tokens, parts.index(1) if 1 in parts else len(tokens)
