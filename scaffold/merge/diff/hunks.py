"""Finds where two edited versions can't be merged, and how far each conflict reaches.

A conflict covers what belongs together: everything that was deleted in one place, and a complete
block if it contains its head.
"""

import re
from collections.abc import Collection, Sequence

from scaffold.merge.diff.commute import can_commute, same_purpose
from scaffold.merge.diff.deletions import goes_with_deleted
from scaffold.merge.diff.expression import merge_unit
from scaffold.merge.diff.mapping import Side, role
from scaffold.merge.diff.triple import Region, Three, contains
from scaffold.merge.semantics.effects import effects_of
from scaffold.merge.source.statement import PYTHON, TOML, Unit


def find_clashes(three: Three, doubtful: Collection[Region] = ()) -> list[Region]:
    """The regions that the owner has to decide."""
    regions = _join([*_find_clashes(three), *doubtful])
    while True:
        whole = _join([_whole_blocks(three, region) for region in regions])
        if whole == regions:
            return regions
        regions = whole


def their_changes(three: Three) -> list[Region]:
    """The regions in which the other side differs from the base."""
    found: list[Region] = []
    for number in range(len(three.base) + 1):
        if three.theirs.inserts[number]:
            found.append((number, number))
        if number < len(three.base):
            unit = three.theirs.of(number)
            old = three.base[number]
            if unit is None or (unit.same, unit.depth) != (old.same, old.depth):
                found.append((number, number + 1))
    return _join(found, touching=True)


def _find_clashes(three: Three) -> list[Region]:
    found: list[Region] = []
    for number, unit in enumerate(three.base):
        mine, theirs = three.mine.of(number), three.theirs.of(number)
        if mine is None and theirs is not None and theirs.same != unit.same:
            if three.kind == PYTHON and _imports_more(unit, theirs):
                continue  # what the code needs is imported again
            found.append(_deleted_run(three, three.mine, number))
        elif theirs is None and (
            _is_rewritten(three, number) if mine is None else three.edited(number)
        ):
            found.append(_deleted_run(three, three.theirs, number))
        elif mine and theirs and not _go_together(three, unit, mine, theirs):
            found.append((number, number + 1))
    for gap in range(len(three.base) + 1):
        if goes_with_deleted(three, gap):
            continue
        if three.mine.inserts[gap] and three.theirs.inserts[gap] and not _both_fit(three, gap):
            found.append((gap, gap))
        for one, other in ((three.mine, three.theirs), (three.theirs, three.mine)):
            if one.inserts[gap] and (lost := _lost_context(three, one, other, gap)) is not None:
                found.append(_deleted_run(three, other, lost))
        if three.mine.inserts[gap] and _is_replaced(three, three.theirs, gap):
            found.append(_deleted_run(three, three.theirs, gap))
    found += _same_purpose(three)
    return found


def _imports_more(unit: Unit, theirs: Unit) -> bool:
    """Whether an import has new names of the same module."""
    heads = [re.match(r"from [\w.]+ import\b", row.text) for row in (unit, theirs)]
    return bool(heads[0] and heads[1] and heads[0][0] == heads[1][0])


def _go_together(three: Three, unit: Unit, mine: Unit, theirs: Unit) -> bool:
    if unit.same in (mine.same, theirs.same):
        return True
    return merge_pair(three, unit, mine, theirs) is not None


def merge_pair(three: Three, base: Unit, mine: Unit, theirs: Unit) -> Unit | None:
    if mine.same == theirs.same:
        return mine
    if three.kind not in (PYTHON, TOML):
        return None
    return merge_unit(base, mine, theirs, three.merge_lines)


def _both_fit(three: Three, gap: int) -> bool:
    mine = [three.mine.units[place] for place in three.mine.inserts[gap]]
    theirs = [three.theirs.units[place] for place in three.theirs.inserts[gap]]
    if contains(mine, theirs) or contains(theirs, mine):
        return True
    if three.kind != PYTHON:
        purposes = [{role(unit) for unit in units} - {()} for units in (mine, theirs)]
        return three.union and not purposes[0] & purposes[1]
    levels = [min(unit.depth for unit in units) for units in (mine, theirs)]
    if levels[0] != levels[1]:
        return True  # the deeper one continues the block above, the other one follows it
    if three.opens_for_next(three.mine, gap) and not three.opens_for_next(three.theirs, gap):
        while mine and re.match(r"(try|(async )?with\b.*):", mine[-1].text.strip(), re.DOTALL):
            mine.pop()  # theirs stand in front of the block, whose head decides nothing
    return (
        not mine
        or can_commute(mine, theirs, three.modules())
        or work_on_given(three, gap, mine, theirs)
    )


def work_on_given(three: Three, gap: int, mine: Sequence[Unit], theirs: Sequence[Unit]) -> bool:
    """Whether new lines of both sides share only what the line above them binds: a batch, say.

    The owner's come first then: they were written for what is given there.
    """
    above = three.base[gap - 1] if 0 < gap <= len(three.base) else None
    there = three.theirs.of(gap - 1) if above else None
    if three.kind != PYTHON or above is None or there is None or there.key != above.key:
        return False
    given = effects_of(above.text.strip()).binds
    modules = three.modules()
    return not can_commute(mine, theirs, modules) and can_commute(mine, theirs, modules, given)


def _lost_context(three: Three, one: Side, other: Side, gap: int) -> int | None:
    """The base unit that the other side deleted, if new units have lost all their context."""
    number_of = one.number_of
    first = min(one.inserts[gap], key=lambda place: one.units[place].depth)
    depth = one.units[first].depth
    head = one.parents[first]
    if head is not None and head not in number_of:
        return None  # in a new block
    near: list[int] = []  # the units above and below it in its block, the nearest first
    for places in (range(first - 1, -1, -1), range(first + 1, len(one.units))):
        found: list[int] = []
        for place in places:
            unit = one.units[place]
            if unit.depth < depth and not unit.is_comment:
                break
            if unit.depth == depth and place in number_of:
                found.append(number_of[place])
        near += found if one is three.mine else found[:1]
    if not near and head is not None:
        near.append(number_of[head])
    if not near or any(other.match[number] is not None for number in near):
        return None
    if one is three.mine and depth == 0:
        return None
    return near[0]


def _same_purpose(three: Three) -> list[Region]:
    """Gaps in which the other side adds what the owner already wrote differently elsewhere."""
    known = three.base
    own = [three.mine.units[place] for gap in three.mine.inserts for place in gap]
    set_by_hand = {role(unit) for unit in own if len(role(unit)) == 3 and three.kind != PYTHON}
    changed = [
        (number, number + 1)
        for number, unit in enumerate(known)
        if (there := three.theirs.of(number)) and there.same != unit.same
        # of an option of a job script that is there twice, the last one counts
        if role(unit) in set_by_hand
    ]
    return changed + [
        (gap, gap)
        for gap, places in enumerate(three.theirs.inserts)
        for place in places
        if same_purpose(three.theirs.units[place], own, known)
    ]


def _is_replaced(three: Three, side: Side, gap: int) -> bool:
    """Whether this side wrote something else in place of the units on both sides of a gap."""
    if not 0 < gap < len(three.base) or side.match[gap - 1] is not None:
        return False
    if side.match[gap] is not None:
        return False
    start, end = _deleted_run(three, side, gap)
    return any(side.inserts[place] for place in range(start, end))


def _is_rewritten(three: Three, number: int) -> bool:
    """Whether the other side wrote something new in place of what the owner deleted."""
    if three.kind != PYTHON or three.base[number].is_comment:
        return False
    start, _ = _deleted_run(three, three.theirs, number)
    new = [three.theirs.units[place] for place in three.theirs.inserts[start]]
    own = [three.mine.units[place] for place in three.mine.inserts[start]]
    return any(not unit.is_comment for unit in new) and not contains(own, new)


def _deleted_run(three: Three, side: Side, number: int) -> Region:
    """The range around a unit that this side deleted together with it."""
    if three.kind != PYTHON or _stands_alone(three, number):
        return number, number + 1
    start, end = number, number + 1
    while start > 0 and side.match[start - 1] is None and not _ends_before(three, start):
        start -= 1
    while end < len(three.base) and side.match[end] is None and not _ends_before(three, end):
        end += 1
    return start, end


def _stands_alone(three: Three, number: int) -> bool:
    """Whether a unit is a field or a top-level statement."""
    unit = three.base[number]
    if unit.is_comment or unit.text.rstrip().endswith(":"):
        return False
    head = three.parents[number]
    text = "" if head is None else three.base[head].text.lstrip()
    return (unit.depth == 0 and not text) or text.startswith("class ")


def _ends_before(three: Three, number: int) -> bool:
    """Whether a top-level definition ends before a unit."""
    unit, before = three.base[number], three.base[number - 1]
    if unit.depth > 0:
        return False
    return not before.is_comment and not before.text.startswith("@")


def _whole_blocks(three: Three, region: Region) -> Region:
    """A region, extended to the end of all blocks that one side opens or removes in it."""
    start, end = region
    last = end
    for number in range(start, min(end, len(three.base))):
        if None in (three.mine.match[number], three.theirs.match[number]):
            level = three.base[number].depth
            after = number + 1
            while after < len(three.base) and (
                three.base[after].depth > level or three.base[after].is_comment
            ):
                after += 1
            last = max(last, after if after > number + 1 else last)
    for side in (three.mine, three.theirs):
        for gap in range(start, max(end, start + 1)):
            for place in side.inserts[gap]:
                after = place + 1
                while after < len(side.units) and (
                    side.units[after].depth > side.units[place].depth
                ):
                    last = max(last, side.number_of.get(after, -1) + 1)
                    after += 1
    return start, last


def _join(regions: Collection[Region], touching: bool = False) -> list[Region]:
    """The regions in order; overlapping ones are joined, and touching ones if that is wanted."""
    joined: list[Region] = []
    for start, end in sorted(set(regions)):
        if joined and (start < joined[-1][1] + touching or start == joined[-1][0]):
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
