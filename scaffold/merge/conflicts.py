"""Conflicts, which are written to a file between markers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

YOURS, BASE, MIDDLE, NEW = "<<<<<<< yours", "||||||| previously generated", "=======", ">>>>>>> "


@dataclass(frozen=True)
class Conflict:
    """A place that the owner has to resolve."""

    path: str
    line: int  # of its first marker in the file as it will be written, from 1
    label: str  # the answer or the reason that caused it


def frame(mine: Sequence[str], base: Sequence[str], theirs: Sequence[str], cause: str) -> list[str]:
    """The lines of one conflict."""
    return [YOURS, *mine, BASE, *base, MIDDLE, *theirs, NEW + cause]


def find_conflicts(path: str, text: str) -> list[Conflict]:
    """The regions between conflict markers in a file, each with the label of its last marker.

    A single marker, such as the line under a heading, does not count.
    """
    conflicts: list[Conflict] = []
    first = 0  # the line with the marker that opens the region, 0 outside of one
    divided = False
    if "<<<<<<<" not in text:
        return conflicts
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.rstrip("\r")
        if re.match(r"<{7}( |$)", line):
            first, divided = number, False
        elif first and line == "=======":
            divided = True
        elif divided and re.match(r">{7}( |$)", line):
            conflicts.append(Conflict(path, first, line[7:].strip()))
            first, divided = 0, False
    return conflicts
