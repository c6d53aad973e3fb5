"""Finds the depth of a unit in the merged text after a side put a block around others."""

import ast
import itertools
from collections.abc import Iterator

from scaffold.merge.diff.commute import get_given_again
from scaffold.merge.diff.mapping import Side, anchor
from scaffold.merge.diff.triple import Triple
from scaffold.merge.semantics.effects import effects_of
from scaffold.merge.source.statement import PYTHON, Statement, block_of, start_of
from scaffold.merge.source.training import (
    limits_gradients,
    puts_in_other_weights,
    steps_optimizer,
    trains,
)


def in_same_block(triple: Triple, number: int) -> bool:
    """Whether both sides put a unit into the same new blocks, or neither into one."""
    ours, theirs = (
        [side.units[row].key for row in side.heads(side.match[number]) if row not in side.number_of]
        for side in (triple.ours, triple.theirs)
    )
    return ours == theirs


def depth_change(triple: Triple, one: Side, other: Side, place: int, gap: int) -> int:
    """How much deeper the other side has what is around a new unit of one side."""
    if (start := _continued(one, place)) is not None:
        return depth_change(triple, one, other, start, one.gap_of[start])
    replaced = None if one.of(gap) else other.of(gap)
    level = one.level_at[place]
    if replaced is not None and level <= triple.base[gap].depth:
        return replaced.depth - triple.base[gap].depth
    if one is triple.theirs and _has_its_end_inside(triple, place, gap):
        return triple.ours.units[triple.ours.match[gap] or 0].depth - triple.base[gap].depth
    if triple.goes_with_next(one, gap) and (there := other.of(gap)) is not None:
        return there.depth - triple.base[gap].depth
    places = one.inserts[gap]
    best: tuple[int, int, int] | None = None
    after = one.of(gap)
    # a blank line above, and none below: it belongs to what follows
    to_next = after is not None and one.units[places[0]].blanks > 0 and not after.blanks
    rest = itertools.takewhile(lambda row: row >= place, reversed(places))
    if after is not None and all(one.units[row].is_comment for row in rest):
        to_next = True  # a comment is about what stands below it
    inside = block_of(one.units, place) or (place,)
    if after is not None and all(limits_gradients(one.units[row].text) for row in inside):
        to_next = True
    if one is triple.ours and gets_other_weights(triple, gap):
        last = place
        while one.units[last].is_comment and last + 1 < len(one.units):
            last += 1  # what the comment is about
        above = itertools.takewhile(lambda row: row <= last, places)
        to_next = to_next or any(needs_own_weights(triple, row) for row in above)
    if one is triple.ours and after is not None and other.inserts[gap]:
        rows = (side.new(gap) for side in (one, other))
        to_next = to_next or get_given_again(triple, gap, *rows)
    opens = triple.opens_for_next(one, gap)
    if opens:  # if both do, the owner's block is the inner one
        to_next = one is triple.ours or not triple.opens_for_next(triple.ours, gap)
    for number, rank in ((_above(one, gap, level), int(to_next)), (gap, int(not to_next))):
        if not 0 <= number < len(triple.base):
            continue
        near, there = one.of(number), other.of(number)
        if near is None or there is None:
            continue
        # what a new block is opened for is beside its head in the base
        distance = 0 if opens and to_next and number == gap else abs(near.depth - level)
        left = other is triple.ours and number < gap
        head = _left_block(triple, number, gap, place) if left else None
        depth = there.depth if head is None else other.units[head].depth  # after all branches
        score = (distance, rank, depth - triple.base[number].depth)
        best = min(best, score) if best else score
    return best[2] if best else 0


def _has_its_end_inside(triple: Triple, place: int, gap: int) -> bool:
    """Whether a like line of the other side ends what the owner made conditional, and needs it.

    As `hooks.call("evaluation_start")` and `hooks.call("evaluation_end", metrics)`.
    """
    units, head = triple.ours.units, new_head(triple, gap) if gap < len(triple.base) else None
    if head is None or triple.kind != PYTHON or not isinstance(units[head].node, ast.If):
        return False
    rows = [triple.ours.number_of.get(row, -1) for row in block_of(units, head)]
    end, called = max(rows) + 1, anchor(triple.theirs.units[place])
    ends = map(anchor, triple.theirs.new(end))
    return rows[0] == gap and len(called) > 1 and called in ends and needs_block(triple, head, end)


def _continued(side: Side, place: int) -> int | None:
    """The new `try:` or `if` that a new unit continues, or that the block around it does."""
    units, parents = side.units, side.parents
    while (head := parents[place]) is not None and head not in side.number_of:
        place = head
    if not units[place].continues:
        return None
    start = start_of(units, place)
    if start is None or start in side.number_of or units[start].depth != units[place].depth:
        return None
    return start


def gets_other_weights(triple: Triple, gap: int) -> bool:
    """Whether an update puts averaged weights into the model around the line above a gap: below
    `with ema.applied():`."""
    theirs = triple.theirs
    above = theirs.match[gap - 1] if gap and triple.kind == PYTHON else None
    head = None if above is None else theirs.parents[above]
    if head is None or head in theirs.number_of:
        return False
    return bool(puts_in_other_weights(theirs.units[head].text))


def needs_own_weights(triple: Triple, place: int) -> bool:
    """Whether a new line of the owner trains, or saves a checkpoint."""
    units = triple.ours.units
    if units[place].is_comment:
        return False
    called = anchor(units[place])[-1:]
    definition = (unit.text for unit in units if unit.scope.split(".")[:1] == [*called])
    return any(map(trains, (units[place].text, *definition)))


def new_head(triple: Triple, number: int) -> int | None:
    """The head of the owner's new block around a statement of the base, if it is in one."""
    place = triple.ours.match[number]
    head = None if place is None else triple.ours.parents[place]
    return None if head in triple.ours.number_of else head


def _left_block(triple: Triple, number: int, gap: int, place: int) -> int | None:
    """The head of the owner's new block that a new line of the other side stands below."""
    head = branch_of(triple, number)
    if head is None and (found := condition_above(triple, gap)) is not None:
        side = triple.theirs
        while (outer := side.parents[place]) is not None and side.gap_of.get(outer) == gap:
            place = outer  # the statement that the line is in
        return found if is_independent(triple, found, gap, place) else None
    return head


def condition_above(triple: Triple, gap: int) -> int | None:
    """The head of the owner's new `if` or `with` that ends above a gap, the outermost one."""
    units, parents, number_of = triple.ours.units, triple.ours.parents, triple.ours.number_of
    after = triple.ours.match[gap] if gap < len(triple.base) else None
    head = new_head(triple, gap - 1) if gap and triple.kind == PYTHON else None
    found = None
    kinds = ast.If | ast.With
    while head is not None and head not in number_of and isinstance(units[head].node, kinds):
        if units[head].continues or after in block_of(units, head):
            break
        found, head = head, parents[head]
    return found


def is_independent(triple: Triple, condition: int, gap: int, first: int = 0) -> bool:
    """Whether new lines of the other side stand below what the owner made conditional, from the
    first of them on.

    It has an `else`; or it has no step of the optimizer, and they read nothing that is bound in it.
    """
    units = triple.ours.units
    block = [units[row] for row in block_of(units, condition)]
    after = condition + len(block) + 1
    if after < len(units) and units[after].continues:
        return True
    steps = any(steps_optimizer(unit.text) for unit in block)
    return not steps and not needs_block(triple, condition, gap, first)


def needs_block(triple: Triple, head: int, gap: int, first: int = 0) -> bool:
    """Whether new lines of the other side, from the first on, read what a block of the owner binds,
    or what lines above them bind that do.

    A name that is only bound again is there without it, too: `model = compile(model)`.
    """
    units = triple.ours.units
    kinds = ast.Assign | ast.AugAssign if isinstance(units[head].node, ast.With) else ast.Assign
    bound: set[str] = set()
    for row in block_of(units, head):
        effects, again = effects_of(units[row]), isinstance(units[row].node, kinds)
        bound |= effects.binds - effects.reads if again else effects.binds
    needing = False
    for place in triple.theirs.inserts[gap]:
        effects = effects_of(triple.theirs.units[place])
        if effects.reads & bound:
            bound |= effects.binds
            needing |= place >= first
    return needing


def branch_of(triple: Triple, number: int) -> int | None:
    """The head of a new condition's branch, into which the owner put a statement of the base.

    Only if another branch has a new statement like it: one that binds or calls the same.
    """
    side, place, head = triple.ours, triple.ours.match[number], new_head(triple, number)
    if place is None or head is None:
        return None
    purposes = _purposes(side.units[place])
    others = (row for other in _other_branches(side, head) for row in block_of(side.units, other))
    is_copied = any(
        row not in side.number_of and purposes & _purposes(side.units[row]) for row in others
    )
    return head if is_copied else None


def _purposes(unit: Statement) -> set[tuple[str, ...]]:
    """What a statement binds or calls, and what it computes."""
    value = getattr(unit.node, "value", None)
    found = {anchor(unit)} if len(anchor(unit)) > 1 else set()
    return found | ({("value", ast.dump(value))} if isinstance(value, ast.Call) else set())


def _other_branches(side: Side, head: int) -> Iterator[int]:
    """The heads of the other branches of a condition."""
    units = side.units
    for step in (-1, 1):
        last, place = head, head + step
        while 0 <= place < len(units) and units[place].depth >= units[head].depth:
            if units[place].depth == units[head].depth and not units[place].is_comment:
                if not (units[last] if step < 0 else units[place]).continues:
                    break
                last = place
                yield place
            place += step


def _above(side: Side, gap: int, level: int) -> int:
    """The nearest unit of the base above a gap that is not in a deeper block, or -1."""
    above = ((number, side.of(number)) for number in range(gap - 1, -1, -1))
    return next((number for number, unit in above if unit and unit.depth <= level), -1)


def depth_change_of_hunk(triple: Triple, side: Side, start: int, end: int) -> int:
    """How much deeper a side has a region, apart from the blocks it opens or drops in it."""
    opened = {place for gap in range(start, end) for place in side.inserts[gap]}
    for number in range(start, min(end, len(triple.base))):
        place = side.match[number]
        if place is None or _is_in_another_block(triple, side, number):
            continue
        change = side.units[place].depth - triple.base[number].depth
        change -= sum(head in opened for head in side.heads(place))
        head = triple.parents[number]
        while head is not None and head >= start:
            change += side.match[head] is None
            head = triple.parents[head]
        return change
    head = triple.parents[start] if start < len(triple.base) else None
    around = None if head is None else side.of(head)
    return 0 if around is None or head is None else around.depth - triple.base[head].depth


def _is_in_another_block(triple: Triple, side: Side, number: int) -> bool:
    """Whether a side moved a unit into a block of the base that was not around it."""
    around, head = set[int](), triple.parents[number]
    while head is not None:
        around.add(head)
        head = triple.parents[head]
    heads = {side.number_of.get(row) for row in side.heads(side.match[number])}
    return not heads <= {None, *around}
