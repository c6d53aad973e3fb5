#: into data.py at row_readers
"""Rows of files: JSON objects, one in each line or all in a list, or Parquet."""

import json
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import TextIO

from fsspec.implementations.local import LocalFileSystem


def find_kind(path: str) -> str:
    """What a file has, by its name: csv for rows.csv, and for rows.CSV.gz."""
    found = re.search(r"\.(\w+?)(\.(gz|bz2|xz|zst))?$", path.lower())
    return found[1] if found else ""


def holds_objects(path: str) -> bool:
    """Whether a file has rows of JSON or Parquet, by its name. It may be compressed."""
    return find_kind(path) in ("jsonl", "jsonlines", "jl", "ndjson", "ldjson", "json", "parquet")


def open_text(path: str, newline: str | None = None) -> TextIO:
    """A text file. One that ends in .gz, .bz2, .xz or .zst is decompressed. No archive."""
    if re.search(r"\.(zip|tar)(\.\w+)?$", path.lower()):
        raise SystemExit(f"{path} can't be read: unpack it, and name what was in it.")
    settings = {"encoding": "utf-8-sig", "newline": newline, "compression": "infer"}
    try:
        return LocalFileSystem().open(path, "rt", **settings)
    except ValueError as error:  # the package for .zst is missing
        raise SystemExit(f"{path} can't be read: {error}: pip install zstandard") from error


def read_objects(path: str) -> Iterator[tuple[str, dict]]:
    """The rows of a file, and where each one is."""
    if (kind := find_kind(path)) in ("csv", "tsv", "xlsx"):
        raise SystemExit(
            f"{path} is a table, and rows of JSON are needed. pandas writes them: "
            'pd.read_csv(...).to_json("rows.jsonl", orient="records", lines=True).'
        )
    read = read_parquet if kind == "parquet" else read_json
    try:
        for place, row in read(path):
            if not isinstance(row, dict):
                raise SystemExit(f"{place} is not a JSON object.")
            yield place, row
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise SystemExit(f"{path} can't be read: {error}") from error


def read_json(path: str) -> Iterator[tuple[str, object]]:
    """What each line of a file has, or each item of its list."""
    with open_text(path) as file:
        for number, line in enumerate(file, start=1):
            if number == 1 and line.lstrip().startswith("["):  # a list, which may go on
                rows: list = parse(line + file.read(), path)  # type: ignore[assignment]
                yield from ((f"{path}, item {place}", row) for place, row in enumerate(rows, 1))
            elif line.strip():
                place = f"{path}, line {number}"
                yield place, parse(line, place)


def parse(text: str, place: str) -> object:
    try:
        row = json.loads(text, object_pairs_hook=join_pairs)
        json.dumps(row, ensure_ascii=False).encode()  # rejects lone surrogates
    except (ValueError, RecursionError) as error:
        raise SystemExit(f"{place} is not JSON: {error}") from error
    return row


def join_pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object. Raises ValueError if a key is there twice: json would take the last one."""
    row = dict(pairs)
    if len(row) < len(pairs):
        [(name, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"it has the key {name!r} twice")
    return row


def read_parquet(path: str) -> Iterator[tuple[str, dict]]:
    """The rows of a Parquet file."""
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise SystemExit(f"{path} needs a package: pip install pyarrow") from error
    number = 0
    for batch in parquet.ParquetFile(path).iter_batches():
        for row in batch.to_pylist():
            number += 1
            yield f"{path}, row {number}", {name: drop_nulls(cell) for name, cell in row.items()}


def drop_nulls(value: object) -> object:
    """A value without the keys that Parquet and Arrow add, so that all rows have the same."""
    if isinstance(value, dict):
        return {name: drop_nulls(item) for name, item in value.items() if item is not None}
    return [drop_nulls(item) for item in value] if isinstance(value, list) else value
