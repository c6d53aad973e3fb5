#: into data.py at datasets
"""Names of classes, labels and tags, how often they occur, and files that a data set lists."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path

from accelerate import PartialState


def count_names(names: Iterable[str], most: int = 20) -> str:
    """Names and how often each occurs, the most frequent ones first: cat (12), dog (9)."""
    counts = Counter(names).most_common()
    shown = ", ".join(f"{name} ({count:,})" for name, count in counts[:most])
    return shown + f" and {len(counts) - most:,} more" * (len(counts) > most)


def check_names(
    parts: list[list[Collection[str]]],
    sources: list[str],
    noun: str,
    find_place: Callable[[str, int], str],
) -> None:
    """Stop if a file has names that the training data lack, which are the first part.

    A part has the names of each sample. `sources` are the files of the other parts: a part without
    one is a share of the training file, and its names are only said. `find_place` says where a
    sample is, by its file and its number in it, for error messages.
    """
    trained = {name for names in parts[0] for name in names}
    for source, part in zip(sources, parts[1:], strict=True):
        lacking: dict[str, int] = {}
        for number, names in enumerate(part):
            for name in sorted({*names} - trained):
                lacking.setdefault(name, number)
        text = f"the training data have no {noun} {', '.join(map(repr, lacking))}"
        if lacking and source:
            place = find_place(source, min(lacking.values()))
            raise SystemExit(f"{place}: {text}: write names as they do, or add rows to them.")
        if lacking:
            PartialState().print(f"{text}: all of them were split off")


def check_spelling(places: Mapping[str, str], noun: str) -> None:
    """Stop if two names are one number, such as 1 and 1.0, or look the same. 01 is a code.

    `places` has the first place of each name, for error messages.
    """
    found: dict[str | float, str] = {}
    for name, place in places.items():
        number = find_number(name)
        first = found.setdefault(show_plainly(name) if number is None else number, name)
        if first != name:
            alike = "looks like" if number is None else "is the same number as"
            raise SystemExit(
                f"{place}: the {noun} {name!a} {alike} {first!a} of {places[first]}: write it in "
                "one way in all files."
            )


def show_plainly(name: str) -> str:
    """A name without what can't be seen: kinds of spaces, marks of no width, parts of letters."""
    letters = unicodedata.normalize("NFC", " ".join(name.split()))
    return "".join(x for x in letters if unicodedata.category(x) not in ("Cc", "Cf"))


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
