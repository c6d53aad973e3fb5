"""The tokens of documents, in files that are mapped into memory: texts may be larger than it."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np


@cache
def map_file(path: Path, kind: np.dtype) -> np.ndarray:
    return np.memmap(path, kind, mode="r")


@dataclass(frozen=True)
class Documents:
    source: Path | np.ndarray  # the tokens of all documents, one after the other, or their file
    kind: np.dtype  # the type of a token
    spans: np.ndarray  # where each document starts and ends among them, shape (documents, 2)

    def read(self, document: int, start: int, end: int) -> np.ndarray:
        """Tokens of a document, from `start` up to `end`, which may be beyond its last one."""
        first, last = self.spans[document]
        is_file = isinstance(self.source, Path)
        tokens = map_file(self.source, self.kind) if is_file else self.source
        return np.asarray(tokens[first + start : min(first + end, last)], np.int64)

    def select(self, spans: np.ndarray) -> "Documents":
        return Documents(self.source, self.kind, np.asarray(spans, np.int64).reshape(-1, 2))


def find_spans(lengths: list[int]) -> np.ndarray:
    """Where documents of these lengths start and end, shape (documents, 2)."""
    ends = np.cumsum(lengths, dtype=np.int64)
    return np.stack([ends - np.asarray(lengths, np.int64), ends], axis=1)


def encode_documents(texts: list[str], tokenizer) -> Documents:
    """The tokens of a few texts, in memory."""
    rows = tokenizer.encode_all(texts)
    tokens = np.concatenate(rows) if rows else np.zeros(0, np.int64)
    return Documents(tokens, tokens.dtype, find_spans([len(row) for row in rows]))
