import random
import sysconfig
import zlib
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import torch
from torch.utils.data import random_split

from lib.hub import complete_splits, load_splits
from lib.json_lines import find_kind, holds_objects, open_text, read_objects
from lib.notes import note, note_ignored
from lib.tables import holds_table, read_table

#: replace eval_batch with decoder without eval_batch_size
"batch_size": config.batch_size,  # the logits of a larger batch may not fit in memory

#: slot read_documents when project.task=masked_language_model dataset=huggingface
def read_documents(config) -> list[list[str]]:
    """The documents of the splits train, validation and test: each row that is not empty."""
    return [[text for text in split[config.text_column] if text] for split in load_columns(config)]

#: slot read_documents when project.task=language_model|masked_language_model dataset=huggingface
def load_columns(config) -> list:
    """The column of texts of the splits train, validation and test."""
    splits = complete_splits(load_splits(config))
    names = splits["train"].column_names
    if config.text_column not in names:
        raise SystemExit(
            f"{config.dataset_name} has no column {config.text_column}: "
            f"--text-column names one of {', '.join(names)}."
        )
    note_ignored(config.dataset_name, names, [config.text_column])
    column = [config.text_column]
    parts = [splits[name].select_columns(column) for name in ("train", "validation", "test")]
    for name, part in zip(("train", "validation", "test"), parts, strict=True):
        kind = getattr(part.features[config.text_column], "dtype", "")
        if kind not in ("string", "large_string"):
            raise SystemExit(
                f"{config.text_column} of the split {name} of {config.dataset_name} has no texts."
            )
    return parts

#: slot read_documents when project.task=language_model|masked_language_model dataset=stdlib
PACKAGES = [".", "asyncio", "concurrent/futures", "ctypes", "email", "http", "importlib"]
PACKAGES += ["json", "logging", "multiprocessing", "sqlite3", "unittest", "urllib", "wsgiref"]


def read_documents(config) -> list[list[str]]:
    """The smaller modules of Python's standard library, for training, validation and test.

    They differ slightly between Python versions.
    """
    library = Path(sysconfig.get_paths()["stdlib"])
    paths = sorted(path for package in PACKAGES for path in (library / package).glob("[a-z]*.py"))
    # a fixed seed: another --seed must not move test documents into the training data
    random.Random(0).shuffle(paths)
    documents = [path.read_text(encoding="utf-8") for path in paths if path.stat().st_size < 9000]
    tenth = len(documents) // 10
    return [documents[2 * tenth :], documents[:tenth], documents[tenth : 2 * tenth]]

#: slot read_documents when project.task=masked_language_model dataset=text
def read_documents(config) -> list[list[str]]:
    """Texts for training, validation and test: those of a folder, or parts of one file."""
    texts = read_texts(config.path, config)
    if len(texts) < 3:  # each text is cut: 90 % for training, 5 % for validation, 5 % for the test
        cuts = [(0.0, 0.9), (0.9, 0.95), (0.95, 1.0)]
        parts = [[text[int(a * len(text)) : int(b * len(text))] for text in texts] for a, b in cuts]
    else:
        # a fixed seed: another --seed must not move test documents into the training data
        random.Random(0).shuffle(texts)
        tenth = max(1, len(texts) // 10)
        parts = [texts[2 * tenth :], texts[:tenth], texts[tenth : 2 * tenth]]
    for part, path in ((1, config.val_path), (2, config.test_path)):
        if path:  # all of config.path is for training
            parts[0] += parts[part]
            parts[part] = read_texts(path, config)
    for name, part in zip(("training", "validation", "test"), parts, strict=True):
        if not any(part):
            raise SystemExit(f"The {name} data have no text: {config.path} is too short to be cut.")
    return parts


def read_texts(path: str, config) -> list[str]:
    """The texts of a file or a folder, without empty ones."""
    pieces = groupby(read_pieces(path, config), key=itemgetter(0))
    texts = ["".join(text for _, text in group) for _, group in pieces]
    if not (texts := [text for text in texts if text.strip()]):
        raise SystemExit(f"{path} has no texts.")
    return texts

#: slot read_documents when project.task=language_model|masked_language_model dataset=text
PIECE = 1_000_000  # characters of a long text that are read at once


def read_pieces(path: str, config) -> Iterator[tuple[int, str]]:
    """The texts of a file or a folder, each with its number. A long one comes in pieces."""
    if holds_objects(path) or holds_table(path):
        texts = ((text,) for text in read_column(path, config))
    else:
        texts = map(read_file, list_files(path))
    for number, pieces in enumerate(texts):
        for piece in pieces:
            if piece.startswith('{"') and not holds_objects(path):
                note(f"{path} is read as texts: rows of JSON are read from a .jsonl file")
            yield number, piece


def list_files(path: str) -> list[Path]:
    """A file, or the text files of a folder. Says which files of a folder are left out."""
    if not Path(path).is_dir():
        return [Path(path)]
    files = sorted(file for file in Path(path).rglob("*") if file.is_file())
    files = [file for file in files if "/." not in f"/{file.relative_to(path).as_posix()}"]
    texts = [file for file in files if find_kind(file.name) == "txt"]
    if not texts:
        raise SystemExit(f"{path} holds no files that end in .txt.")
    if others := len(files) - len(texts):
        note(f"{path}: ignored: {others} files that do not end in .txt")
    return texts


def read_file(path: Path) -> Iterator[str]:
    """The text of a file, in pieces that end with a line: a tokenizer may join what is around."""
    try:
        with open_text(str(path)) as file:
            text = file.read(PIECE)
            while more := file.read(PIECE):
                end = text.rfind("\n") + 1 or len(text)
                yield text[:end]
                text = text[end:] + more
            yield text
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise SystemExit(f"{path} can't be read: {error}") from error


def read_column(path: str, config) -> Iterator[str]:
    """The text of each row of a table, or a JSON or Parquet file."""
    names: set[str] = set()
    for place, row in read_table(path) if holds_table(path) else read_objects(path):
        text = row.get(config.text_column)
        if config.text_column not in row:
            raise SystemExit(
                f"{place}: there is no {config.text_column!r} in {', '.join(row)}. "
                "Set --text-column."
            )
        if not isinstance(text, str):
            raise SystemExit(f"{place}: its {config.text_column} is not text, but {text!r:.60}.")
        names |= row.keys()
        yield text
    note_ignored(path, sorted(names), [config.text_column])

#: slot split_rows when project.task=embeddings|multiple_choice|speech_recognition|text_classification|token_classification
def split_rows(rows: list, shares: list[float], source: str = "the data") -> list[list]:
    """The rows in splits of these sizes, the same in each run. `source` is for error messages."""
    if shares[0] == 1:  # the other splits have their own files
        return [rows, [], []]
    if len(rows) < 10:
        raise SystemExit(
            #: region few
            f"{source}: {len(rows)} rows can't be split into training, validation and test: use "
            "10 or more."
            #: end few
        )
    #: region divide
    # a fixed seed: another --seed must not move test samples into the training data
    rng = torch.Generator().manual_seed(0)
    return [list(part) for part in random_split(rows, shares, generator=rng)]
    #: end divide

#: slot train_batches with tokens
collate_fn=collate,

#: replace eval_loaders with tokens
val_loader = DataLoader(val_set, collate_fn=collate, **settings)
test_loader = DataLoader(test_set, collate_fn=collate, **settings)
