#: into data.py at datasets
"""Files that a data set lists."""

from collections.abc import Iterable
from pathlib import Path


def check_once(placed: Iterable[tuple[str, Path]]) -> None:
    """Raises SystemExit for a file in two places: it could be in the training and the test data."""
    places: dict[Path, str] = {}
    for place, path in placed:
        first = places.setdefault(path.resolve(), place)
        if first != place:
            raise SystemExit(f"{place} has {path}, and so has {first}: keep one of them.")
