import re
from collections.abc import Iterator

#: slot tokenizer
MASK = "[MASK]"  # marks a masked token in your texts


class Tokenizer:
    """Each byte of UTF-8 is a token, and one more token is the mask."""

    mask, size = 256, 257

    def encode(self, texts: list[str], length: int) -> Iterator[tuple[list[int], list[int]]]:
        """Blocks of up to `length` tokens, and the index of each token's word."""
        for text in texts:
            tokens = list(text.encode())
            pieces = enumerate(re.findall(r"\w+|\W", text))
            words = [number for number, piece in pieces for _ in piece.encode()]
            for start in range(0, len(tokens), length):
                end = start + length
                yield tokens[start:end], words[start:end]

    def encode_masked(self, text: str) -> list[int]:
        """The tokens of a text with the mask in it."""
        first, *others = (list(part.encode()) for part in text.split(MASK))
        return first + [token for part in others for token in (self.mask, *part)]

    def decode(self, tokens: list[int]) -> str:
        return bytes(token for token in tokens if token < 256).decode(errors="replace")


def build_tokenizer(config) -> Tokenizer:
    return Tokenizer()
