"""Follows an owner who moved a statement to the head of the block that it is in.

`optimizer.zero_grad()` at the end of a step does the same at its head. In the pristine and the new
file it goes there, too: to the head of the block in which each of them has it, so that gradients
are not cleared between the parts of a step.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from scaffold.merge.diff.mapping import Side, align, find_parents
from scaffold.merge.source.statement import Statement


def follow_moved_heads(
    base: Sequence[Statement], ours: Sequence[Statement], theirs: Sequence[Statement]
) -> tuple[list[Statement], list[Statement]]:
    """The pristine and the new file with such statements where the owner has them."""
    side = align(base, ours)
    parents = find_parents(base)
    counts = Counter((unit.scope, unit.key) for unit in base)
    moved = [
        unit
        for number, unit in enumerate(base)
        if side.match[number] is None
        and counts[unit.scope, unit.key] == 1
        and _is_at_head(side, unit, parents[number])
    ]
    old, new = list(base), list(theirs)
    for unit in moved:
        if _places(old, unit) and _places(new, unit):
            old, new = _to_head(old, unit), _to_head(new, unit)
    return old, new


def _is_at_head(side: Side, unit: Statement, parent: int | None) -> bool:
    """Whether the owner has a simple statement of the base below the head of its block."""
    head = None if parent is None else side.match[parent]
    if head is None or unit.is_comment or unit.text.rstrip().endswith(":"):
        return False
    rows = [place for place in range(head + 1, len(side.units)) if not side.units[place].is_comment]
    first = side.units[rows[0]] if rows else None
    return first is not None and first.key == unit.key and rows[0] not in side.number_of


def _places(units: Sequence[Statement], unit: Statement) -> list[int]:
    """Where a file has a statement, if that is one place in a block."""
    found = [n for n, row in enumerate(units) if (row.scope, row.key) == (unit.scope, unit.key)]
    parents = find_parents(units)
    return found if len(found) == 1 and parents[found[0]] is not None else []


def _to_head(units: Sequence[Statement], unit: Statement) -> list[Statement]:
    (place,) = _places(units, unit)
    head = find_parents(units)[place]
    assert head is not None
    row = replace(units[place], blanks=0)
    rest = [*units[:place], *units[place + 1 :]]
    return [*rest[: head + 1], row, *rest[head + 1 :]]
