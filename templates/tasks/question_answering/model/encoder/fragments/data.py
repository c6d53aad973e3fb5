import re
from collections.abc import Iterator
from zlib import crc32

#: slot tokenizer
PIECES, START, END = 4096, 0, 1  # numbers of tokens, and those around a question


def split_pieces(text: str) -> list[tuple[int, int]]:
    """Where the tokens of a text start and end: other characters, and words in pieces of eight."""
    return [piece.span() for piece in re.finditer(r"\w{1,8}|[^\w\s]", text)]


def number_pieces(text: str, pieces: list[tuple[int, int]]) -> list[int]:
    """The number of a piece is its hash: any text has tokens without a vocabulary."""
    return [2 + crc32(text[start:end].encode()) % (PIECES - 2) for start, end in pieces]


def encode(questions: list[Question], config) -> Iterator[tuple[int, list[int], int, list]]:
    """Of each window: the index of its question, tokens, the first of the text, and their places.

    A question has at most a quarter of the tokens. A place is the first character of a token of
    the text, and the one after its last.
    """
    for index, row in enumerate(questions):
        asked = split_pieces(row.question)[: config.max_length // 4]
        head = [START, *number_pieces(row.question, asked), END]
        pieces, room = split_pieces(row.context), config.max_length - len(head)
        for begin in range(0, max(len(pieces) - config.overlap, 1), room - config.overlap):
            part = pieces[begin : begin + room]
            yield index, head + number_pieces(row.context, part), len(head), part
