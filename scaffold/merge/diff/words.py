"""Merges a text word by word: a message, or a line of a shell script."""

import itertools
import re
from collections.abc import Callable

from scaffold.merge.source.matcher import SequenceMatcher

MergeLines = Callable[[str, str, str], str | None]  # merges three texts, None if they clash

_WORD = re.compile(r"\w+|\s+|[^\w\s]")


def merge_words(base: str, ours: str, theirs: str) -> str | None:
    """The text with the changes of both sides. None if no word stands between two of them."""
    old = _WORD.findall(base)
    sides = [_changes(old, _WORD.findall(text)) for text in (ours, theirs)]
    changes = sorted({*sides[0], *sides[1]})
    for one, two in itertools.pairwise(changes):
        between = "".join(old[one[1] : two[0]])
        is_one_side = any(one in side and two in side for side in sides)
        if one[1] > two[0] or not (is_one_side or re.search(r"\w", between)):
            return None
    for start, end, new in reversed(changes):
        old[start:end] = [new]
    return "".join(old)


def _changes(old: list[str], new: list[str]) -> set[tuple[int, int, str]]:
    """From where to where other words stand, and which."""
    codes = SequenceMatcher(old, new).get_opcodes()
    return {(i, j, "".join(new[x:y])) for code, i, j, x, y in codes if code != "equal"}
