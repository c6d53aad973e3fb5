#: into data.py at tokenizer
"""Tokens without a vocabulary, and texts cut before a tokenizer gets them."""

import re
from zlib import crc32

from transformers import PreTrainedTokenizerBase

PIECES, START, END = 4096, 0, 1  # vocabulary size, and the tokens before and after a text


def split_pieces(text: str) -> list[tuple[int, int]]:
    """Where the tokens of a text start and end: other characters, and words in pieces of eight."""
    return [piece.span() for piece in re.finditer(r"\w{1,8}|[^\w\s]", text)]


def number_pieces(text: str, pieces: list[tuple[int, int]]) -> list[int]:
    """The id of a piece is its hash, so no vocabulary is needed."""
    return [2 + crc32(text[start:end].encode()) % (PIECES - 2) for start, end in pieces]


def shorten(text: str, most: int, tokenizer: PreTrainedTokenizerBase) -> str:
    """The beginning of a text, with at most `most` tokens."""
    settings = {"add_special_tokens": False, "return_offsets_mapping": True, "verbose": False}
    places = tokenizer(text, **settings)["offset_mapping"]
    return text if len(places) <= most else text[: places[most - 1][1]]
