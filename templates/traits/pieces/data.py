import re
from zlib import crc32

#: slot tokenizer
PIECES, START, END = 4096, 0, 1  # vocabulary size, and the tokens before and after a text


def split_pieces(text: str) -> list[tuple[int, int]]:
    """Where the tokens of a text start and end: other characters, and words in pieces of eight."""
    return [piece.span() for piece in re.finditer(r"\w{1,8}|[^\w\s]", text)]


def number_pieces(text: str, pieces: list[tuple[int, int]]) -> list[int]:
    """The id of a piece is its hash, so no vocabulary is needed."""
    return [2 + crc32(text[start:end].encode()) % (PIECES - 2) for start, end in pieces]
