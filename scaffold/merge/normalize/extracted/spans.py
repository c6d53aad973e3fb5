"""Where a new render has the statements of the parts that an owner moved."""

import ast
from collections.abc import Sequence

from scaffold.merge.diff.mapping import Side
from scaffold.merge.normalize.extracted.parts import Part, Spans
from scaffold.merge.semantics.effects import calls_instead
from scaffold.merge.semantics.flow import Sources, bound_in, needed_by, read_in
from scaffold.merge.source.statement import Statements


def find_spans(side: Side, base: Statements, ours: Statements, parts: Sequence[Part]) -> Spans:
    """Where the other side has them, without those that it tore apart or deleted.

    If it repeats a part in a new loop, an own line in the part has no certain place.
    """
    spans: dict[Part, tuple[int, int]] = {}
    for part in parts:  # the outer ones first
        while part.outer and part.outer not in spans:
            part.outer = part.outer.outer
        span = _find_span(side, base, part, parts)
        if span and _has_new_loop(side, span[0]) and _has_own_lines(ours, part):
            continue
        if span and (
            _leaves_loop(side, *span) or _reads_other_values(side, base, ours, part, span)
        ):
            continue
        around = spans[part.outer] if part.outer else span
        if span and around and around[0] <= span[0] and span[1] <= around[1]:
            spans[part] = span
    return spans


def _find_span(
    side: Side, base: Statements, part: Part, parts: Sequence[Part]
) -> tuple[int, int] | None:
    held = {n for n in side.match[part.start : part.end] if n is not None}
    for gap in range(part.start + 1, part.end):
        held |= set(side.inserts[gap])
    code = [n for n in sorted(held) if not side.units[n].is_comment]
    if not code:
        return None
    above, below = list(side.inserts[part.start]), side.inserts[part.end]
    start, end = min(held), max(held) + 1
    lowest = min(side.units[n].depth for n in code)
    while above and lowest <= side.units[above[-1]].depth < side.units[start].depth:
        start = above.pop()  # a new block that ends in the part
        held.add(start)
        code = [start, *code]
    if side.match[part.start] is None:  # what comes in place of the first one
        first = base[part.start]
        instead = [n for n in above if calls_instead(first, side.units[n])]
        held |= {n for n in above if instead and n >= instead[0]}
        start = min(held)
    level = side.units[code[0]].depth
    for place in below:  # what continues the last block
        if place == end and (side.units[place].depth > level or side.units[place].continues):
            held.add(place)
            end += 1
    rest = [place for place in below if place >= end]
    siblings = [p for p in parts if p.outer is part.outer and p.function == part.function]
    if rest and _goes_inside(base, part, siblings, side, rest):
        held |= set(rest)
        end = rest[-1] + 1
    is_first = not any(other.end <= part.start for other in siblings)
    if above and is_first and not _keeps(base, part, siblings):
        held |= set(above)
        start = above[0]
    if held != set(range(start, end)):
        return None
    if any(side.units[n].depth < level for n in held if not side.units[n].is_comment):
        return None
    after = side.units[end] if end < len(side.units) else None
    if after and (after.depth > level or after.continues):
        return None
    return start, end


def _has_new_loop(side: Side, place: int) -> bool:
    """Whether there is a new loop around a line."""
    return any(
        head not in side.number_of
        and side.units[head].text.lstrip().startswith(("for ", "while ", "async for "))
        for head in side.heads(place)
    )


def _leaves_loop(side: Side, start: int, end: int) -> bool:
    """Whether new statements leave a loop around them: no function could do so."""
    for place in range(start, end):
        if isinstance(side.units[place].node, ast.Break | ast.Continue):
            heads = [head for head in side.heads(place) if head >= start]
            inside = any(isinstance(side.units[head].node, ast.For | ast.While) for head in heads)
            if place not in side.number_of and not inside:
                return True
    return False


def _reads_other_values(
    side: Side, base: Statements, ours: Statements, part: Part, span: tuple[int, int]
) -> bool:
    """Whether new statements read what the owner computes in the definition, in place of what the
    other side no longer computes."""
    known = {unit.key for unit in base[part.start : part.end]}
    new = (unit for unit in side.units[slice(*span)] if unit.key not in known)
    read, sources = read_in(new), Sources(base)
    own = bound_in(ours[part.target.head + 1 : part.inside[0]])
    found = (sources.above(part.start, name) for name in read & own)
    return any(row is not None and side.match[row] is None for row in found)


def _has_own_lines(ours: Statements, part: Part) -> bool:
    """Whether a definition has more than a part: other lines than texts and what it returns."""
    known = set(part.places.values())
    return any(
        number not in known and not ours[number].is_comment
        for number in part.target.lines
        if not ours[number].key.startswith("text ")
        and not ours[number].text.lstrip().startswith("return")
    )


def _goes_inside(
    base: Statements, part: Part, siblings: Sequence[Part], side: Side, new: Sequence[int]
) -> bool:
    """Whether new statements behind a part belong to it: no other place has what they need."""
    if not _keeps(base, part, siblings):
        return True
    rows = [side.units[n] for n in new]
    inside = bound_in(base[part.start : part.end])
    outside = [*base[part.function.head + 1 : part.start], *base[part.end : part.function.end]]
    known = bound_in(outside) | set(part.function.parameters)
    returned = needed_by(base[part.end : part.function.end])
    return bool(read_in(rows) & inside - known - returned)


def _keeps(base: Statements, part: Part, siblings: Sequence[Part]) -> bool:
    """Whether statements are left where a part was taken out, beside other parts."""
    start, end = part.function.head + 1, part.function.end
    if part.outer:
        start, end = part.outer.start, part.outer.end
    taken = {n for p in siblings for n in range(p.start, p.end)}
    left = [n for n in range(start, end) if n not in taken and not base[n].is_comment]
    return any(not base[n].key.startswith("text ") for n in left)
