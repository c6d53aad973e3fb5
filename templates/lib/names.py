#: into data.py at datasets
"""Names of classes, labels and tags, how often they occur, and files that a data set lists."""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from accelerate import PartialState


def count_names(names: Iterable[str], most: int = 20) -> str:
    """Names and how often each occurs, the most frequent ones first: cat (12), dog (9)."""
    counts = Counter(names).most_common()
    shown = ", ".join(f"{name} ({count:,})" for name, count in counts[:most])
    return shown + f" and {len(counts) - most:,} more" * (len(counts) > most)


def check_names(names: list[str], trained: set[str], noun: str, apart: bool) -> None:
    """Stop if two names are one number, or if another split has names that training lacks.

    If the splits are not `apart`, but shares of the same rows, such names are only said.
    """
    check_numbers(names, noun)
    if missing := [name for name in names if name not in trained]:
        text = f"The training data have no {noun} {', '.join(map(repr, missing))}"
        if apart:
            raise SystemExit(f"{text}, but another split has: write names as the training data do.")
        PartialState().print(f"{text}: all of them were split off")


def check_numbers(names: Iterable[str], noun: str) -> None:
    """Stop if two names are one number, such as 1 and 1.0. 01 is a code, and none."""
    numbers: dict[float, str] = {}
    for name in sorted(set(names)):
        if (number := find_number(name)) is not None and numbers.setdefault(number, name) != name:
            raise SystemExit(
                f"{numbers[number]!r} and {name!r} are the same number, but two {noun} names: "
                "write it in one way in all files."
            )


def find_number(name: str) -> float | None:
    if re.match(r"[+-]?0\d", name):  # a code
        return None
    try:
        return float(name)
    except ValueError:
        return None


def describe_parts(noun: str, sizes: Iterable[int], config) -> str:
    """How many samples the parts have, and where they come from."""
    paths = [getattr(config, name, "") for name in ("val_path", "test_path")]
    source = getattr(config, "path", "") or getattr(config, "dataset_name", "")
    files = [source, *(path or f"of {source}" for path in paths)]
    parts = zip(sizes, ("training", "validation", "test"), files, strict=True)
    return ", ".join(f"{size:,} {noun} for {name} ({file})" for size, name, file in parts)


def describe_names(names: Iterable[str], noun: str, most: int = 10) -> str:
    """The names, each with how often it occurs."""
    counts = Counter(names).most_common()
    shown = ", ".join(f"{name} ({count:,})" for name, count in counts[:most])
    return f"{len(counts):,} {noun}: {shown}{', ...' if len(counts) > most else ''}"


def check_once(placed: Iterable[tuple[str, Path]]) -> None:
    """Raises SystemExit for a file in two places: it could be in the training and the test data."""
    places: dict[Path, str] = {}
    for place, path in placed:
        first = places.setdefault(path.resolve(), place)
        if first != place:
            raise SystemExit(f"{place} has {path}, and so has {first}: keep one of them.")
