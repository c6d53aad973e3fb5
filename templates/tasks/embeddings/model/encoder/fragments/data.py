import re
from zlib import crc32

#: slot tokenizer
PIECES, START = 4096, 0  # vocabulary size, and the token that starts each text


def encode(texts: Sequence[str], config) -> list[list[int]]:
    """The tokens of each text: words in pieces of eight letters, and other characters.

    The id of a piece is its hash, so no vocabulary is needed.
    """
    encoded = []
    for text in texts:
        pieces = re.findall(r"\w{1,8}|[^\w\s]", text)[: config.max_length - 1]
        numbers = [1 + crc32(piece.lower().encode()) % (PIECES - 1) for piece in pieces]
        encoded.append([START, *numbers])
    return encoded
