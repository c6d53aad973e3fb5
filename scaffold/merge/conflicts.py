"""Conflicts, which are written to a file between markers."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scaffold.merge.source.notebooks import (
    NOTEBOOK,
    Cell,
    read_notebook,
    source_of,
    with_source,
    write_notebook,
)
from scaffold.merge.source.parse import is_python
from scaffold.merge.source.style import take_ending

YOURS, BASE, MIDDLE, NEW = "<<<<<<< yours", "||||||| previously generated", "=======", ">>>>>>> "


SHORTENED = "; of code that you moved, only what changes"  # ends the label of such a conflict


@dataclass(frozen=True)
class Conflict:
    """A place that the owner has to resolve."""

    path: str
    line: int  # of its first marker in the file as it will be written, from 1
    label: str  # the answer or the reason that caused it


def frame(ours: Sequence[str], base: Sequence[str], theirs: Sequence[str], cause: str) -> list[str]:
    return [YOURS, *ours, BASE, *base, MIDDLE, *theirs, NEW + cause]


def find_conflicts(path: str, text: str) -> list[Conflict]:
    """The regions between conflict markers in a file, each with the label of its last marker.

    A single marker, such as the line under a heading, does not count. Those of a notebook are in
    the sources of its cells.
    """
    if path.endswith(NOTEBOOK) and (book := read_notebook(text)):
        return list(_in_cells(path, text, book["cells"]))
    return [Conflict(path, first + 1, label) for first, _, _, _, label in _regions(text)]


def _in_cells(path: str, text: str, cells: Sequence[Cell]) -> Iterator[Conflict]:
    end = 0
    for cell in cells:
        for *_, label in _regions(source_of(cell)):
            end = text.find("<<<<<<<", end) + 1
            yield Conflict(path, text.count("\n", 0, end) + 1, label)


def find_leftovers(path: str, text: str) -> list[Conflict]:
    """Single markers that an earlier conflict left behind, such as one of git.

    Markers in a string of Python, or in a page that explains them, do not count.
    """
    marked = any(marker in text for marker in ("<<<<<<<", ">>>>>>>", "|||||||", "======="))
    is_page = path.endswith((".md", ".rst", ".txt"))
    if not marked or is_page or (path.endswith(".py") and is_python(text)):
        return []
    pairs = {place for first, *_, last, _ in _regions(text) for place in range(first, last + 1)}
    return [
        Conflict(path, number + 1, f"a leftover marker of another conflict: {line.rstrip()[:40]}")
        for number, line in enumerate(text.split("\n"))
        if number not in pairs and re.match(r"((<{7}|>{7}|\|{7})( |\r?$)|={7}\r?$)", line)
    ]


def take_side(text: str, ours: bool) -> str:
    """The text with one side of each conflict: the owner's, or what was generated."""
    book = read_notebook(text) if "<<<<<<<" in text else None
    if book:
        taken = [with_source(cell, take_side(source_of(cell), ours)) for cell in book["cells"]]
        # without those that are no longer generated
        book["cells"] = [cell for cell in taken if source_of(cell) or cell in book["cells"]]
        plain, ending = take_ending(text)
        return ending.put_on(write_notebook(book, plain))
    lines = text.split("\n")
    return "\n".join(lines[row] for row in _kept(text, ours))


def line_among_markers(text: str, ours: bool, line: int) -> int:
    """Where a line of `take_side` is in the text with the markers; both from 1."""
    return _kept(text, ours)[line - 1] + 1


def _kept(text: str, ours: bool) -> list[int]:
    """The numbers of the lines with one side of each conflict, from 0."""
    kept: list[int] = []
    after = 0
    for first, base, middle, last, _ in _regions(text):
        kept += range(after, first)
        kept += range(first + 1, base) if ours else range(middle + 1, last)
        after = last + 1
    return [*kept, *range(after, text.count("\n") + 1)]


def _regions(text: str) -> Iterator[tuple[int, int, int, int, str]]:
    """The numbers of the markers of each conflict, from 0, and the label of the last one.

    Without the base, which its owner may have deleted, the marker in the middle stands for it.
    """
    first: int | None = None  # None outside of a region
    base: int | None = None
    middle: int | None = None
    if "<<<<<<<" not in text:
        return
    for number, line in enumerate(text.split("\n")):
        line = line.rstrip("\r")
        if re.match(r"<{7}( |$)", line):
            first, base, middle = number, None, None
        elif first is not None and base is None and re.match(r"\|{7}( |$)", line):
            base, middle = number, None  # what looked like the middle was the owner's
        elif first is not None and middle is None and line == "=======":
            middle = number
        elif first is not None and middle is not None and re.match(r">{7}( |$)", line):
            yield first, middle if base is None else base, middle, number, line[7:].strip()
            first = base = middle = None
