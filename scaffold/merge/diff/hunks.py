"""Finds where two edited versions can't be merged, and how far each conflict reaches.

A conflict covers what belongs together: everything that was deleted in one place, and a complete
block if it contains its head.
"""

import ast
import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace

from scaffold.merge.diff.commute import (
    can_commute,
    get_given_again,
    is_set_apart,
    same_purpose,
    work_on_given,
)
from scaffold.merge.diff.deletions import is_in, is_required, outdated
from scaffold.merge.diff.expression import merge_unit, merge_words
from scaffold.merge.diff.mapping import Side, anchor
from scaffold.merge.diff.triple import Hunk, Triple, contains
from scaffold.merge.semantics.effects import calls_instead, effects_of, only_adds, only_shows
from scaffold.merge.semantics.flow import bound_in, read_in
from scaffold.merge.source.imports import imports_of
from scaffold.merge.source.statement import PYTHON, TEXT, Statement, Statements, block_of, start_of
from scaffold.merge.source.training import is_done_once

_DEFINITIONS = (("FunctionDef",), ("AsyncFunctionDef",), ("ClassDef",))


def whole_hunks(triple: Triple, found: Collection[Hunk]) -> list[Hunk]:
    """The regions that the owner has to decide, each with all that belongs to it."""
    hunks = _join(found)
    moved = list(_moved_by_them(triple)) if found else []
    while True:
        whole = [_whole_blocks(triple, hunk) for hunk in hunks]
        for number, gap in moved:
            ends = [any(_holds(hunk, *end) for hunk in whole) for end in ((number, 1), (gap, 0))]
            if any(ends) and not all(ends):
                first = next((start for start, end in whole if end == number), number)
                whole.append((first, number + 1) if ends[1] else (gap, gap))
        whole = _join([*whole, *_deleted_between(triple, whole)])
        if whole == hunks:
            return hunks
        hunks = whole


def _deleted_between(triple: Triple, hunks: Collection[Hunk]) -> Iterator[Hunk]:
    """The regions between two that the other side deleted as a whole: one question for both, unless
    there are other definitions between them."""
    side = triple.theirs
    for (start, above), (last, end) in itertools.pairwise(_join(hunks)):
        deleted = not any(map(side.of, range(start, end))) and not any(side.inserts[start:end])
        others = [unit for unit in triple.base[above:last] if unit.defined and not unit.depth]
        if end > last and deleted and not others:
            yield start, end


def _holds(hunk: Hunk, place: int, length: int) -> bool:
    """Whether a unit of the base, or the gap in front of one, is in a region."""
    start, end = hunk
    return start <= place < end or (not length and start == end == place)


def _moved_by_them(triple: Triple) -> Iterator[tuple[int, int]]:
    """The statements that the other side moved: where they were, and the gap in which they are.

    With one side of a conflict, they would be there twice or not at all if only one end is in it.
    """
    side = triple.theirs
    names = [unit.key for unit in triple.base]
    counts = Counter(names), Counter(unit.key for unit in side.units)
    there = {
        side.units[place].key: gap for gap, places in enumerate(side.inserts) for place in places
    }
    for number, name in enumerate(names):
        is_one = len(anchor(triple.base[number])) > 1 and counts[0][name] == counts[1][name] == 1
        by_both = triple.ours.match[number] is None
        if is_one and not by_both and side.match[number] is None and name in there:
            yield number, there[name]


def their_changes(triple: Triple) -> list[Hunk]:
    """The regions in which the other side differs from the base."""
    found: list[Hunk] = []
    found += [(gap, gap) for gap, places in enumerate(triple.theirs.inserts) if places]
    for number, old in enumerate(triple.base):
        unit = triple.theirs.of(number)
        if unit is None or (unit.same, unit.depth) != (old.same, old.depth):
            found.append((number, number + 1))
    return _join(found, touching=True)


def their_parts(triple: Triple, hunk: Hunk) -> list[Hunk]:
    """The statements of a change, with their blocks, if the other side only deletes them."""
    side, (start, end) = triple.theirs, hunk
    if any(side.inserts[start : end + 1]) or any(map(side.of, range(start, end))):
        return [hunk]
    parts: list[Hunk] = []
    first = start
    for number in range(start, end):
        after = triple.base[number + 1] if number + 1 < end else None
        level = triple.base[first].depth
        if not triple.base[number].is_comment and (
            after is None or (after.depth <= level and not after.continues)
        ):
            parts.append((first, number + 1))
            first = number + 1
    return [*parts, (first, end)] if first < end or not parts else parts


def find_clashes(triple: Triple) -> list[Hunk]:
    """Where the two sides can't be merged."""
    found: list[Hunk] = []
    for number, unit in enumerate(triple.base):
        ours, theirs = triple.ours.of(number), triple.theirs.of(number)
        edited = ours is None or ours.same != unit.same
        if edited and _is_in_another_definition(triple, number):
            found.append(_deleted_run(triple, triple.ours, number))
        elif ours is None and theirs is not None and theirs.same != unit.same:
            if number in triple.followed.values():
                continue
            if triple.kind == PYTHON and _modules(unit) & _modules(theirs):
                continue  # what the code needs is imported again
            found.append(_deleted_run(triple, triple.ours, number))
        elif theirs is None and (
            _is_rewritten(triple, number) if ours is None else triple.edited(number)
        ):
            alone = ours is not None and (only_shows(ours) or only_adds(unit, ours))
            run = _deleted_run(triple, triple.theirs, number)
            found.append((number, number + 1) if alone else run)
        elif (
            ours
            and theirs
            and unit.same not in (ours.same, theirs.same)
            and merge_pair(triple, unit, ours, theirs) is None
        ):
            found.append((number, number + 1))
    for gap in range(len(triple.base) + 1):
        if triple.ours.inserts[gap] and triple.theirs.inserts[gap] and not _both_fit(triple, gap):
            found.append(_with_condition(triple, gap))
        for one, other in ((triple.ours, triple.theirs), (triple.theirs, triple.ours)):
            if one.inserts[gap] and (lost := _lost_context(triple, one, other, gap)) is not None:
                found.append(_deleted_run(triple, other, lost))
        if triple.ours.inserts[gap] and _is_replaced(triple, triple.theirs, gap):
            found.append(_deleted_run(triple, triple.theirs, gap))
    found += _same_purpose(triple)
    return found


def _with_condition(triple: Triple, gap: int) -> Hunk:
    """A gap, with the condition that the owner's lines in it replace, or continue."""
    side = triple.ours
    first, replaced = side.inserts[gap][0], gap < len(triple.base) and side.of(gap) is None
    if triple.kind == PYTHON and replaced and triple.base[gap].is_head:
        return _deleted_run(triple, side, gap)
    if not side.units[first].continues:
        return gap, gap
    head = start_of(side.units, first)
    return gap if head is None else side.gap_of.get(head, gap), gap + 1


def _is_in_another_definition(triple: Triple, number: int) -> bool:
    """Whether an update replaces the definition around a unit by one that happens to have it too.

    It is the same one under another name if most of its statements are the same.
    """
    unit, theirs = triple.base[number], triple.theirs.of(number)
    if theirs is None or theirs.scope == unit.scope:
        return False
    kept = [
        (there := triple.theirs.of(row)) is not None and there.same == other.same
        for row, other in enumerate(triple.base)
        if other.scope == unit.scope and not other.is_comment
    ]
    return 2 * sum(kept) < len(kept)


def _modules(unit: Statement) -> set[str]:
    """The module from which a statement imports names."""
    return {row.module for row in imports_of(unit) if row.name}


def merge_pair(
    triple: Triple, base: Statement, ours: Statement, theirs: Statement
) -> Statement | None:
    if ours.same == theirs.same:
        return ours
    if triple.kind == TEXT:
        words = merge_words(base.text, ours.text, theirs.text)
        return None if words is None else replace(ours, lines=(words,), key=f"merged {words}")
    if _binds_what_stands_beside(triple, base, ours, theirs):
        return None
    return merge_unit(base, ours, theirs)


def _binds_what_stands_beside(
    triple: Triple, base: Statement, ours: Statement, theirs: Statement
) -> bool:
    """Whether one side has another name here, and the other side binds that in a new line."""
    if triple.kind != PYTHON:
        return False
    old, own, new = (effects_of(unit).binds for unit in (base, ours, theirs))
    for unit, side, brought in (
        (ours, triple.theirs, own - old - new),
        (theirs, triple.ours, new - old - own),
    ):
        beside = [row for row in side.added if row.scope == unit.scope] if brought else []
        if any(brought & effects_of(row).binds for row in beside):
            return True
    return False


def _both_fit(triple: Triple, gap: int) -> bool:
    old = outdated(triple)
    ours = [triple.ours.units[place] for place in triple.ours.inserts[gap] if place not in old]
    theirs = triple.theirs.new(gap)
    theirs = [unit for unit in theirs if not is_required(triple, unit)]
    pairs = (ours, theirs), (theirs, ours)
    if any(contains(*pair) or contains(*pair, (0, 0)) for pair in pairs):
        return True
    theirs = [unit for unit in theirs if not (imports_of(unit) and is_in(unit, ours))]
    if not theirs:
        return True
    if triple.kind != PYTHON:
        purposes = [{anchor(unit) for unit in units} - {()} for units in (ours, theirs)]
        return triple.union and not purposes[0] & purposes[1]
    parts = by_level(ours, theirs)
    if len(parts) == 1:
        return True  # the deeper side continues the block above, the other one follows it
    return all(_fit(triple, gap, *rows) for rows in parts if all(rows))


def by_level(ours: Statements, theirs: Statements) -> list[tuple[list[Statement], list[Statement]]]:
    """New lines of both sides, one part after the other: in the block above, and below it."""
    lowest = [min(unit.depth for unit in rows) for rows in (ours, theirs)]
    inside = [
        list(itertools.takewhile(lambda unit: unit.depth > min(lowest), rows))
        for rows in (ours, theirs)
    ]
    if lowest[0] != lowest[1] and not inside[lowest.index(min(lowest))]:
        return [(list(ours), list(theirs))]
    return [(inside[0], inside[1]), (list(ours[len(inside[0]) :]), list(theirs[len(inside[1]) :]))]


def _fit(triple: Triple, gap: int, ours: list[Statement], theirs: list[Statement]) -> bool:
    """Whether new lines of both sides can stand in one place."""
    theirs = theirs[: place_for_next(triple, gap, theirs)]
    if theirs and not theirs[0].continues:
        ours = _without_branches(ours)  # theirs stand below all of them
    if triple.opens_for_next(triple.ours, gap):
        while ours and re.match(r"(try|(async )?with\b.*):", ours[-1].text.strip(), re.DOTALL):
            ours.pop()  # theirs stand in front of the block, or around it: its head decides nothing
    ours = [row for row in ours if not isinstance(row.node, ast.Global | ast.Nonlocal)]
    if ours and theirs and ours[-1].is_decorator != theirs[-1].is_decorator:
        # they stand below the others
        ours, theirs = ([row for row in rows if not row.is_decorator] for rows in (ours, theirs))
    return (
        not ours
        or not theirs
        or can_commute(ours, theirs, triple.modules)
        or work_on_given(triple, gap, ours, theirs)
        or get_given_again(triple, gap, ours, theirs)
        or leaves_first(triple, gap, ours, theirs)
        or leaves_last(triple, gap, ours, theirs, ours)
        or leaves_at_end(triple, gap, ours, theirs)
    )


def place_for_next(triple: Triple, gap: int, theirs: Statements) -> int:
    """Where among new lines is what the other side has in place of the line below the gap, which
    the owner kept: his lines stand above it. As many as there are, if none is.

    It makes another call, with all that the old one reads: `save_weights(model, folder)`.
    """
    old = triple.base[gap] if gap < len(triple.base) and triple.ours.of(gap) else None
    if old is None or triple.theirs.of(gap):
        return len(theirs)
    return next((place for place, row in enumerate(theirs) if calls_instead(old, row)), len(theirs))


def leaves_first(triple: Triple, gap: int, ours: Statements, theirs: Statements) -> bool:
    """Whether the other side leaves a loop at its start, `if done: break`, above the owner's."""
    above = triple.base[gap - 1] if gap else None
    leaves = [row for row, unit in enumerate(theirs) if isinstance(unit.node, ast.Break)]
    if len(leaves) != 1 or not above or not isinstance(above.node, ast.For | ast.While):
        return False
    head = theirs[leaves[0] - 1]
    rest = [unit for unit in theirs if unit not in (head, theirs[leaves[0]])]
    if not isinstance(head.node, ast.If) or (rest and not can_commute(ours, rest, triple.modules)):
        return False
    changed = {name for row in ours for name in effects_of(row).binds | effects_of(row).changes}
    return not changed & effects_of(head).reads


def leaves_last(
    triple: Triple, gap: int, first: Statements, last: Statements, ours: Statements
) -> bool:
    """Whether new lines of one side leave a loop, below those of the other side, so that each round
    still has these."""
    above, modules = triple.base[gap - 1] if gap else None, triple.modules
    returns = any(isinstance(unit.node, ast.Return) for unit in last)
    if above is None or returns or isinstance(above.node, ast.For | ast.While):
        return False
    if triple.stands_for_next(gap, ours) or triple.goes_with_next(triple.ours, gap):
        return False
    sides = (triple.ours, triple.theirs)
    turns = last is ours and any(isinstance(u.node, ast.Break | ast.Continue) for u in last)
    return not any(triple.opens_for_next(side, gap) for side in sides) and (
        (turns or not can_commute(first, last, modules))
        and can_commute(first, last, modules, in_order=True)
    )


def leaves_at_end(triple: Triple, gap: int, ours: Statements, theirs: Statements) -> bool:
    """Whether the owner leaves a loop at the end of its body, below the other side's new lines."""
    below = triple.base[gap].depth if gap < len(triple.base) else -1
    is_end = below < min(unit.depth for unit in ours)
    return is_end and leaves_last(triple, gap, theirs, ours, ours)


def _without_branches(units: Statements) -> list[Statement]:
    """The units without those that continue the condition above: `else`, and what is in it."""
    start = 0
    while start < len(units) and units[start].continues:
        start = block_of(units, start).stop
    return list(units[start:])


def _lost_context(triple: Triple, one: Side, other: Side, gap: int) -> int | None:
    """The base unit that the other side deleted, if new units have lost all their context."""
    number_of = one.number_of
    first = min(one.inserts[gap], key=lambda place: one.units[place].depth)
    if imports_of(one.units[first]):
        return None  # it may stand anywhere among the others
    depth = one.units[first].depth
    head = one.parents[first]
    if head is not None and (head not in number_of or one.units[head].text.startswith("class ")):
        return None  # in a new block, or a field among others
    near: list[int] = []  # the units above and below it in its block, the nearest first
    others: list[int] = []  # all of them
    for places in (range(first - 1, -1, -1), range(first + 1, len(one.units))):
        found: list[int] = []
        for place in places:
            unit = one.units[place]
            if unit.depth < depth and not unit.is_comment:
                break
            number = number_of.get(place)
            if unit.depth == depth and number is not None:
                is_above = place < first and one is triple.theirs
                if not (is_above and _is_moved_up(triple, number)):
                    found.append(number)
        if (
            head is not None
            and one is triple.theirs
            and not others + found
            and not triple.opens_for_next(one, gap)
        ):
            found = [number_of[head]]  # the first lines of a block stand below its head
        near += found if one is triple.ours else found[:1]
        others += found
    if not near and head is not None:
        near.append(number_of[head])
    if not near or any(other.match[number] is not None for number in near):
        return None
    if all(only_shows(triple.base[number]) for number in near):  # it stands beside the others
        near = others
        if any(other.match[number] is not None for number in near):
            return None
    if depth == 0 and (one is triple.ours or anchor(one.units[first])[:1] in _DEFINITIONS):
        return None
    return None if one is triple.theirs and _reads_kept(triple, gap, others) else near[0]


def _is_moved_up(triple: Triple, number: int) -> bool:
    """Whether the owner moved a unit of the base up in its function: it is still above the rest."""
    ours, unit = triple.ours, triple.base[number]
    wanted = anchor(unit), unit.scope, unit.depth
    return ours.match[number] is None and any(
        (anchor(row := ours.units[place]), row.scope, row.depth) == wanted
        for place, gap in ours.gap_of.items()
        if gap < number
    )


def _reads_kept(triple: Triple, gap: int, beside: Collection[int]) -> bool:
    """Whether the other side's new lines read what lines beside them bind, which the owner kept."""
    read = read_in(triple.theirs.new(gap))
    sources = [
        next(
            (row for row in range(gap - 1, -1, -1) if name in effects_of(triple.base[row]).binds),
            -1,
        )
        for name in read
    ]
    found = [row for row in sources if row in beside]
    return bool(found) and all(triple.ours.match[row] is not None for row in found)


def _same_purpose(triple: Triple) -> list[Hunk]:
    """Gaps in which the other side adds what the owner already wrote differently elsewhere."""
    known, old = triple.base, outdated(triple)
    own = [triple.ours.units[place] for place in triple.ours.gap_of if place not in old]
    written = [
        *own,
        *(
            there
            for number, unit in enumerate(known)
            if (there := triple.ours.of(number)) and there.key != unit.key
        ),
    ]
    set_by_hand = {anchor(unit) for unit in own if len(anchor(unit)) == 3 and triple.kind != PYTHON}
    changed = [
        (number, number + 1)
        for number, unit in enumerate(known)
        if (there := triple.theirs.of(number)) and there.same != unit.same
        # of an option of a job script that is there twice, the last one counts
        if anchor(unit) in set_by_hand
    ]
    return changed + [
        (gap, gap)
        for gap, places in enumerate(triple.theirs.inserts)
        for place in places
        if same_purpose(unit := triple.theirs.units[place], written, known)
        and not is_required(triple, unit)
        and not (
            (how := anchor(unit))[:1] == ("bind",) and is_set_apart(triple, unit.scope, how[1])
        )
    ]


def _is_replaced(triple: Triple, side: Side, gap: int) -> bool:
    """Whether this side wrote something else in place of the units on both sides of the owner's
    new ones: below a block, of its head."""
    depth = min(unit.depth for unit in triple.ours.new(gap))
    above = next((row for row in range(gap - 1, -1, -1) if triple.base[row].depth <= depth), -1)
    if above < 0 or gap == len(triple.base) or side.of(above) or side.of(gap):
        return False
    start, end = _deleted_run(triple, side, gap)
    new = side.new(*range(start, end))
    if triple.kind == PYTHON and not any(unit.depth <= depth for unit in new):
        return False  # all of it is in a block above
    return bool(new) and not _may_end_block(triple, gap, (start, end))


def _may_end_block(triple: Triple, gap: int, run: Hunk) -> bool:
    """Whether the owner's new lines end a block, and may do so below the other side's new end."""
    base, side = triple.base, triple.theirs
    ours = triple.ours.new(gap)
    depth = min(unit.depth for unit in ours)
    ends = any(unit.depth < depth for unit in base[gap : run[1] + 1]) or run[1] == len(base)
    if triple.kind != PYTHON or not ends:
        return False
    above, beside, after = (
        side.new(*rows) for rows in (range(run[0], gap), (gap,), range(gap + 1, run[1]))
    )
    above += itertools.takewhile(lambda unit: unit.depth >= depth, beside)
    if any(unit.depth < depth for unit in above) or any(unit.depth >= depth for unit in after):
        return False
    effects = [effects_of(unit) for unit in above]
    new = {name for row in effects for name in row.binds | row.changes}
    gone = bound_in(base[run[0] : gap])
    return not (
        any(row.leaves for row in effects)
        or read_in(ours) & (gone | new)
        or bound_in(ours) & (gone | new | read_in(above))
    )


def _is_rewritten(triple: Triple, number: int) -> bool:
    """Whether the other side wrote something new in place of what the owner deleted."""
    if triple.kind != PYTHON or triple.base[number].is_comment:
        return False
    start, _ = _deleted_run(triple, triple.theirs, number)
    new, own = triple.theirs.new(start), triple.ours.new(start)
    if new and new[0].depth < triple.base[start].depth:
        return False  # it stands below the block
    if imports_of(triple.base[number]):
        new = [unit for unit in new if not imports_of(unit)]
    purpose = anchor(triple.base[number])
    if purpose not in map(anchor, new) and len(purpose) > 1 and purpose in triple.theirs.purposes:
        return False  # it is elsewhere now
    return any(not unit.is_comment for unit in new) and not contains(own, new)


def _deleted_run(triple: Triple, side: Side, number: int) -> Hunk:
    """The range around a unit that this side deleted together with it."""
    if triple.kind != PYTHON or _stands_alone(triple, number):
        return number, number + 1
    start, end = number, number + 1
    while start > 0 and side.match[start - 1] is None and not _ends_before(triple, start):
        start -= 1
    while end < len(triple.base) and side.match[end] is None and not _ends_before(triple, end):
        end += 1
    return with_sources(triple, (start, end), number) if side is triple.theirs else (start, end)


def with_sources(triple: Triple, run: Hunk, number: int) -> Hunk:
    """The deleted statement that has a unit, from the first one above on that does something to
    what it uses: `model.eval()`, say."""
    parts = their_parts(triple, run)
    place = next((place for place, part in enumerate(parts) if number < part[1]), -1)
    start, end = parts[place]
    for first, last in reversed(parts[:place]):
        if triple.base[first].defined:
            last = first + 1  # the others are about names of its own
        effects = [effects_of(unit) for unit in triple.base[first:last]]
        done = {name for row in effects for name in row.binds | row.changes | row.roots}
        if done & read_in(triple.base[start:end]):
            start = first
    return start, end


def _stands_alone(triple: Triple, number: int) -> bool:
    """Whether a unit is a field or a top-level statement."""
    unit = triple.base[number]
    if unit.is_comment or unit.is_head:
        return False
    head = triple.parents[number]
    text = "" if head is None else triple.base[head].text.lstrip()
    return (unit.depth == 0 and not text) or text.startswith("class ")


def _ends_before(triple: Triple, number: int) -> bool:
    """Whether a top-level definition ends before a unit."""
    unit, before = triple.base[number], triple.base[number - 1]
    if unit.depth > 0:
        return False
    return not before.is_comment and not before.text.startswith("@")


def _whole_blocks(triple: Triple, hunk: Hunk) -> Hunk:
    """A region, extended to the end of all blocks that one side opens or removes in it."""
    start, end = hunk
    last = end
    for number in range(start, min(end, len(triple.base))):
        if None in (triple.ours.match[number], triple.theirs.match[number]):
            level = triple.base[number].depth
            after = number + 1
            while after < len(triple.base) and (
                triple.base[after].depth > level or triple.base[after].is_comment
            ):
                after += 1
            last = max(last, after if after > number + 1 else last)
    for side in (triple.ours, triple.theirs):
        for gap in range(start, max(end, start + 1)):
            for place in side.inserts[gap]:
                last = max(last, _end_of_block(triple, side, place, start))
    return start, max(last, _end_of_step(triple, start, last))


def _end_of_step(triple: Triple, start: int, end: int) -> int:
    """Where the step of an optimizer ends that the owner wrote elsewhere, if a region has a part of
    it: without the rest, the other side would make none."""
    last = end
    while last < len(triple.base) and triple.ours.match[last] is None and triple.theirs.of(last):
        last += 1
    if start == end or triple.ours.of(end - 1) or not triple.theirs.of(end - 1):
        return end
    return last if any(is_done_once(unit.text) for unit in triple.base[end:last]) else end


def _end_of_block(triple: Triple, side: Side, place: int, start: int) -> int:
    """Where a region ends that has a new head: below what is in its block, and below new lines at
    the end of that if the lines above them have another depth now."""
    known = [row for row in block_of(side.units, place) if row in side.number_of]
    if not known:
        return start
    last = side.number_of[known[-1]]
    has_depth = side.units[known[-1]].depth == triple.base[last].depth
    is_new = side.gap_of.get(known[-1] + 1) == last + 1
    if has_depth or not is_new or known[-1] + 1 not in block_of(side.units, place):
        return last + 1
    below = {unit.scope for unit in triple.base[last + 1 : last + 2]}
    return block_of(triple.base, last + 1).stop if below == {side.units[place].scope} else last + 1


def _join(hunks: Collection[Hunk], touching: bool = False) -> list[Hunk]:
    """The regions in order; overlapping ones are joined, and touching ones if that is wanted."""
    joined: list[Hunk] = []
    for start, end in sorted(set(hunks)):
        if joined and (start < joined[-1][1] + touching or start == joined[-1][0]):
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def mentions(
    triple: Triple,
    hunk: Hunk,
    name: str,
    is_attribute: bool = True,
    apart: Collection[str] = (),
) -> bool:
    """Whether what the other side changed in a hunk has a name in it, or such an attribute.

    Functions that are `apart`, by their qualified names, are not looked at.
    """
    start, end = hunk
    side, units = triple.theirs, list(triple.base[start:end])
    units += side.new(*range(start, end + 1))
    units += [unit for number in range(start, end) if (unit := side.of(number))]
    before = "" if is_attribute else r"(?<!\.)(?<!^from )"  # of which others are imported
    word = re.compile(rf"\b{before}{re.escape(name.rpartition('.')[2])}\b")
    return any(
        word.search(unit.text) for unit in units if (unit.defined or unit.scope) not in apart
    )
