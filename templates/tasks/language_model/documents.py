#: file
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


#: slot functions
#: end file

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator

from accelerate import PartialState
from tqdm import tqdm

#: slot functions when dataset=stdlib
def encode_documents(texts: list[str], tokenizer) -> Documents:
    """The tokens of a few texts, in memory."""
    rows = tokenizer.encode_all(texts)
    tokens = np.concatenate(rows) if rows else np.zeros(0, np.int64)
    return Documents(tokens, tokens.dtype, find_spans([len(row) for row in rows]))

#: slot functions when dataset=text|huggingface
BATCH = 1_000_000  # characters that a tokenizer gets at once


def map_documents(pieces: Iterator[tuple[int, str]], size: int, path: Path, tokenizer) -> Documents:
    """The documents whose tokens are in a file. The first process of a machine writes it.

    `pieces` are numbers of documents and their texts, one after the other. They have about `size`
    characters. A file that is there is used as it is.
    """
    spans = path.with_suffix(".npy")
    if not path.exists() and PartialState().is_local_main_process:
        write_tokens(pieces, size, path, tokenizer)
    while not path.exists():  # not a barrier, which would time out: a large text takes long
        time.sleep(0.2)
    return Documents(path, tokenizer.encode_all([""])[0].dtype, np.load(spans))


def write_tokens(pieces: Iterator[tuple[int, str]], size: int, path: Path, tokenizer) -> None:
    """Write the tokens of documents to a file, and where each document starts and ends beside it.

    Documents without a text are left out.
    """
    lengths, last = [], None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / ".gitignore").write_text("*\n")
        for old in path.parent.glob(f"{path.name.partition('-')[0]}-*"):  # of an earlier text
            old.unlink()
        with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
            with Path(scratch, "tokens").open("wb") as file:
                for number, text, tokens in encode_pieces(pieces, size, tokenizer):
                    if number != last:
                        lengths += [0] if last is None or lengths[-1] else []
                        last = number
                    if lengths[-1] or text.strip():  # nothing but blanks is no text yet
                        file.write(tokens.tobytes())
                        lengths[-1] += len(tokens)
            np.save(path.with_suffix(".npy"), find_spans([n for n in lengths if n]))
            shutil.move(Path(scratch, "tokens"), path)  # the last step: others wait for it
    except OSError as error:
        raise SystemExit(f"The tokens can't be written to {path}: {error}") from error


def encode_pieces(
    pieces: Iterator[tuple[int, str]], size: int, tokenizer
) -> Iterator[tuple[int, str, np.ndarray]]:
    """Each piece and its tokens, with a progress bar."""
    batch: list[tuple[int, str]] = []
    waiting = 0
    with tqdm(total=size, unit="B", unit_scale=True, desc="tokens", leave=False) as bar:
        for piece in pieces:
            batch.append(piece)
            waiting += len(piece[1])
            if waiting >= BATCH:
                yield from encode_batch(batch, tokenizer)
                bar.update(waiting)
                batch, waiting = [], 0
        yield from encode_batch(batch, tokenizer)


def encode_batch(batch: list[tuple[int, str]], tokenizer) -> Iterator[tuple[int, str, np.ndarray]]:
    rows = tokenizer.encode_all([text for _, text in batch])
    for (number, text), tokens in zip(batch, rows, strict=True):
        yield number, text, tokens


def choose_folder(folder: Path) -> Path:
    """The folder, or one for temporary files if it can't be written."""
    writable = os.access(folder if folder.exists() else folder.parent, os.W_OK)
    return folder if writable else Path(tempfile.gettempdir(), folder.name)


def digest(*values: object) -> str:
    return hashlib.blake2b(repr(values).encode(), digest_size=8).hexdigest()

#: slot functions when dataset=text
#: region limits
TRIAL = 100  # a run of at most this many steps is a trial, which reads no more than it needs
LEAST = 16_000_000  # characters that a trial reads


#: end limits
def count_needed(config) -> int:
    """How many characters of a text a trial reads; 0: all, as this run is no trial."""
    #: region needed
    steps = config.max_steps or config.epochs * config.limit_batches
    if not 0 < steps <= TRIAL:
        return 0
    samples = steps * config.batch_size * PartialState().num_processes
    return max(LEAST, 100 * samples * config.context)
    #: end needed


def hash_files(paths: list[Path], most: int) -> str:
    """A digest of files: their names and contents, of each at most so many bytes if not 0."""
    found = hashlib.blake2b(digest_size=8)
    for path in paths:
        found.update(f"{path.name} {path.stat().st_size if most else ''}\n".encode())
        left = most or path.stat().st_size
        with path.open("rb") as file:
            while left > 0 and (block := file.read(min(left, 1 << 20))):
                found.update(block)
                left -= len(block)
    return found.hexdigest()


def take(pieces: Iterator[tuple[int, str]], most: int) -> Iterator[tuple[int, str]]:
    """The first pieces, with about so many characters; 0: all."""
    seen = 0
    for piece in pieces:
        yield piece
        seen += len(piece[1])
        if most and seen >= most:
            return

#: replace limits when dataset=text project.loop=minimal

#: replace needed when dataset=text project.loop=minimal
return 0  # the minimal loop has no limit of steps
