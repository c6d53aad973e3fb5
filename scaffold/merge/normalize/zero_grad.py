"""The owner's zero_grad() before the backward pass, if a step gets several backward passes.

`zero_grad()` may stand anywhere between a step and the next backward pass. If an update makes a
step from several parts, it has one right place: in front of the first.
"""

import re
from collections.abc import Sequence

from scaffold.merge.source.statement import Statement

_CLEARS = re.compile(r"(\w+\.)*zero_grad\(")
_BACKWARD = re.compile(r"(\w+\.)*backward\(")
_NEEDS_GRADIENTS = re.compile(r"\.(backward|grad|step)\b|clip_grad")
_LOOPS = re.compile(r"(for|while)\b")


def follow_zero_grad(
    base: Sequence[Statement], ours: Sequence[Statement], theirs: Sequence[Statement]
) -> list[Statement]:
    """The owner's units, with `zero_grad()` at the head of a loop that becomes two loops."""
    units = list(ours)
    if _loops_around_backward(theirs) <= _loops_around_backward(base):
        return units
    for place, unit in enumerate(ours):
        if not _CLEARS.match(unit.text.lstrip()):
            continue
        head = _head_of(units, place)
        if head is None or not _LOOPS.match(units[head].text.lstrip()):
            continue
        above, below = units[head + 1 : place], units[place + 1 :]
        behind = any(_BACKWARD.match(u.text.lstrip()) and u.depth == unit.depth for u in below)
        if behind and not any(_NEEDS_GRADIENTS.search(u.text) for u in above):
            first = head + 1
            while _CLEARS.match(units[first].text.lstrip()) and first < place:
                first += 1  # another optimizer's
            units.insert(first, units.pop(place))
    return units


def _loops_around_backward(units: Sequence[Statement]) -> int:
    """How many loops are around the backward pass; 0 without one."""
    for place, unit in enumerate(units):
        if _BACKWARD.match(unit.text.lstrip()):
            count, level = 0, unit.depth
            for head in reversed(units[:place]):
                if head.depth < level and not head.is_comment:
                    level = head.depth
                    count += bool(_LOOPS.match(head.text.lstrip()))
            return count
    return 0


def _head_of(units: Sequence[Statement], place: int) -> int | None:
    """The head of the block that a unit is in."""
    depth = units[place].depth
    above = range(place - 1, -1, -1)
    return next((n for n in above if units[n].depth < depth and not units[n].is_comment), None)
