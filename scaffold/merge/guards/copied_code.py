"""Finds code that the owner put into several branches or a loop, where an update changes it once.

An evaluation in both branches of an `if` gets a new argument in one of them. What comes after it
would be done in each round of a loop.
"""

from collections.abc import Iterator

from scaffold.merge.diff.depth import branch_of, new_head
from scaffold.merge.diff.mapping import anchor, block_of
from scaffold.merge.diff.triple import Hunk, Triple
from scaffold.merge.source.statement import PYTHON


def find_copied_code(triple: Triple) -> Iterator[tuple[Hunk, str]]:
    """The changes of such code, each with the reason."""
    if triple.kind != PYTHON or not triple.ours.added:
        return
    for number, unit in enumerate(triple.base):
        there = triple.theirs.of(number)
        if there and there.key == unit.key:
            continue
        if branch_of(triple, number) is not None:
            yield (number, number + 1), f"you also have {_name(triple, number)} in another branch"
    for gap, places in enumerate(triple.theirs.inserts):
        above = gap - 1
        head = new_head(triple, above) if places and above >= 0 else None
        if head is None:
            continue
        units = triple.ours.units
        is_last = block_of(units, head)[-1] == triple.ours.match[above]
        if not is_last and branch_of(triple, above) is not None:
            yield (gap, gap), f"you also have {_name(triple, above)} in another branch"
        elif is_last and units[head].text.lstrip().startswith(("for ", "while ")):
            yield (gap, gap), "does it belong to each round of your loop?"


def _name(triple: Triple, number: int) -> str:
    return anchor(triple.base[number])[-1] or "this line"
