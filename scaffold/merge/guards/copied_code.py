"""Finds code that the owner put into several branches or a loop, where an update changes it once.

An evaluation in both branches of an `if` gets a new argument in one of them. What comes after it
would be done in each round of a loop.
"""

from collections.abc import Iterator

from scaffold.merge.diff.depth import branch_of
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
        if not places or above < 0 or triple.ours.match[above] is None:
            continue
        last = _is_last(triple, above)
        if not last and branch_of(triple, above) is not None:
            yield (gap, gap), f"you also have {_name(triple, above)} in another branch"
        elif last and _is_in_new_loop(triple, above):
            yield (gap, gap), "does it belong to each round of your loop?"


def _is_last(triple: Triple, number: int) -> bool:
    """Whether a statement is the last one in the block that the owner put it into."""
    side, place = triple.ours, triple.ours.match[number]
    head = None if place is None else side.parents[place]
    return place is not None and head is not None and block_of(side.units, head)[-1] == place


def _is_in_new_loop(triple: Triple, number: int) -> bool:
    side, place = triple.ours, triple.ours.match[number]
    head = None if place is None else side.parents[place]
    if head is None or head in side.number_of:
        return False
    return side.units[head].text.lstrip().startswith(("for ", "while "))


def _name(triple: Triple, number: int) -> str:
    return anchor(triple.base[number])[-1]
