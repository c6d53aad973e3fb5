"""Follows an update that moves or deletes statements around the owner's edits.

Edited statements that it moves stand in the base and in the owner's text where the update has them,
so that edits are merged there. Lines that only print or log stand above what it deletes.
"""

import ast
from collections.abc import Collection, Iterator

from scaffold.merge.diff.mapping import Side, align
from scaffold.merge.semantics.effects import effects_of, only_shows
from scaffold.merge.semantics.flow import bound_in, needed_by, read_in
from scaffold.merge.source.statement import Statement, Statements, block_of

Run = tuple[int, int, int]  # of the base: from, to, and the gap that an update moves it to


def follow_moved_blocks(
    base: Statements, ours: Statements, side: Side, indent: str
) -> tuple[Statements, Statements]:
    """Base and ours with edited statements where the other side has them."""
    for start, end, gap in _moved_runs(base, side):
        own = align(base, ours)
        span = _edited_span(base, own, start, end)
        there = own.match[gap] if gap < len(base) else len(ours)
        if span is None or there is None or not _may_move(base, own, (start, end, gap), span):
            continue
        depth = side.levels[gap]
        return (
            _moved(base, (start, end), gap, depth, indent),
            _moved(ours, span, there, depth, indent),
        )
    return base, ours


def follow_output(
    base: Statements, ours: Statements, side: Side, indent: str
) -> tuple[Statements, Statements]:
    """Ours with lines that only print or log above the statements that the other side deletes.

    So they stay below what they stand behind, and need no neighbours.
    """
    own = align(base, ours)
    for gap, places in enumerate(own.inserts):
        units = [ours[place] for place in places]
        if not any(map(only_shows, units)) or not all(map(_is_output, units)):
            continue
        above = gap - 1
        while above >= 0 and side.match[above] is None and own.match[above] is not None:
            above -= 1
        there = own.match[above] if 0 <= above < gap - 1 and side.match[above] is not None else None
        ends = gap == len(base) or side.match[gap] is None or base[gap].depth < units[0].depth
        if there is None or not ends or bound_in(base[above + 1 : gap]) & read_in(units):
            continue
        if (base[above].depth, base[above].scope) == (units[0].depth, units[0].scope):
            rest = [unit for place, unit in enumerate(ours) if place not in places]
            return base, [*rest[: there + 1], *units, *rest[there + 1 :]]
    return base, ours


def _is_output(unit: Statement) -> bool:
    return unit.is_comment or only_shows(unit) or isinstance(unit.node, ast.If)


def _moved_runs(base: Statements, side: Side) -> Iterator[Run]:
    """Whole statements that the update deleted in one place, and has as they were in another."""
    start = 0
    while start < len(base):
        place = _place_elsewhere(base, side, start)
        if place is None:
            start += 1
            continue
        end, change = start + 1, side.units[place].depth - base[start].depth
        while (
            end < len(base)
            and base[end].depth >= base[start].depth
            and _place_elsewhere(base, side, end) == place + end - start
            and side.units[place + end - start].depth - base[end].depth == change
        ):
            end += 1
        gap = side.gap_of[place]
        if (end == len(base) or base[end].depth <= base[start].depth) and not start <= gap <= end:
            yield start, end, gap
        start = end


def _place_elsewhere(base: Statements, side: Side, number: int) -> int | None:
    """Where the update has a statement that it deleted, if it is there once."""
    found = side.added_like(base[number]) if side.match[number] is None else []
    return found[0] if len(found) == 1 else None


def _edited_span(base: Statements, own: Side, start: int, end: int) -> tuple[int, int] | None:
    """Where the owner has edited statements, with a `with` or `try` that is new around them."""
    places = [place for place in own.match[start:end] if place is not None]
    if not places:
        return None
    places += [place for gap in range(start + 1, end) for place in own.inserts[gap]]
    first, last = min(places), max(places) + 1
    same = last - first == end - start and all(
        row is not None and row.key == base[number].key
        for number, row in ((number, own.of(number)) for number in range(start, end))
    )
    while first - 1 in own.gap_of and own.units[first - 1].depth < own.units[first].depth:
        first -= 1
        if not isinstance(own.units[first].node, ast.With | ast.Try):
            return None
        same = False
    while last in own.gap_of and own.units[last].depth > own.units[first].depth:
        last += 1
    bound = bound_in(own.units[first:last])
    while last in own.gap_of and (rows := _addition(own, last, bound)):
        last, same = last + len(rows), False
    return None if same else (first, last)


def _addition(own: Side, place: int, names: Collection[str]) -> list[int]:
    """A new statement that completes what others bind, or a condition around such ones."""
    rows = [place, *block_of(own.units, place)]
    units = [own.units[row] for row in rows]
    inner = [unit for unit in units if not isinstance(unit.node, ast.If)]
    is_new = own.gap_of.keys() >= {*rows}
    return rows if is_new and inner and all(_adds_to(unit, names) for unit in inner) else []


def _adds_to(unit: Statement, names: Collection[str]) -> bool:
    """Whether a statement completes what others bind: `metrics["error"] = 1 - metrics["score"]`."""
    effects = effects_of(unit)
    return bool((effects.binds | effects.roots) & effects.reads & {*names})


def _may_move(base: Statements, own: Side, run: Run, span: tuple[int, int]) -> bool:
    """Whether these are the owner's lines for a run, and what they read is known there, too."""
    start, end, gap = run
    units = own.units
    if any(row in own.number_of and not start <= own.number_of[row] < end for row in range(*span)):
        return False
    if any(unit.depth < units[span[0]].depth for unit in units[slice(*span)]):
        return False
    after = units[span[1]] if span[1] < len(units) else None
    if after is not None and (after.continues or after.depth > units[span[0]].depth):
        return False
    there = own.match[gap] if gap < len(base) else len(units)
    assert there is not None
    new = needed_by(units[slice(*span)]) - read_in(base[start:end])
    between = units[min(there, span[1]) : max(there, span[0])]
    return not new & bound_in(between)


def _moved(
    units: Statements, span: tuple[int, int], place: int, depth: int, indent: str
) -> list[Statement]:
    """The statements with some of them in another place, at another depth."""
    rows = units[slice(*span)]
    rows = [unit.at(unit.depth + depth - rows[0].depth, indent) for unit in rows]
    if place >= span[1]:
        return [*units[: span[0]], *units[span[1] : place], *rows, *units[place:]]
    return [*units[:place], *rows, *units[place : span[0]], *units[span[1] :]]
