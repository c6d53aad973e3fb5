#: into data.py at row_readers
"""What is said about data while they are read, and other names for their columns."""

import sys
from collections.abc import Collection, Iterable
from functools import cache

from accelerate import PartialState


@cache
def note(text: str) -> None:
    """Print a line once, on the main process. Not to stdout: predictions may be there."""
    if PartialState().is_main_process:
        print(text, file=sys.stderr)


def note_ignored(source: str, names: Iterable[str], known: Collection[str]) -> None:
    """Say which columns or keys of a file or a dataset are not read."""
    if ignored := [name for name in dict.fromkeys(names) if name not in known]:
        note(f"{source}: ignored: {', '.join(map(str, ignored))}")


def rename_keys(
    rows: list[tuple[str, dict]], given: str, required: bool = True
) -> list[tuple[str, dict]]:
    """Rows, each with its place, in which `question=prompt` renames question to prompt.

    If the names are `required`, a row must have each of them.
    """
    pairs = [pair.split("=") for pair in given.split(",")] if given else []
    if not all(len(pair) == 2 and all(pair) for pair in pairs):
        raise SystemExit(f"--rename {given}: write it like this: question=prompt,reply=completion.")
    names = dict(pairs)
    for old, new in names.items():
        if required and not any(old in row for _, row in rows):
            raise SystemExit(f"--rename {given}: no row has {old!r}.")
        if both := [place for place, row in rows if old in row and new in row and new not in names]:
            raise SystemExit(f"{both[0]}: --rename {given}: it has {new!r}, too.")
    return [(place, {names.get(name, name): row[name] for name in row}) for place, row in rows]
