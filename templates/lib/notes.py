#: into data.py at row_readers
"""What is said about data while they are read."""

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
