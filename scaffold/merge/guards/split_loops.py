"""Finds the owner's statements in a loop that an update splits into two.

An update can make a step from several parts in two ways. It puts the forward pass into an inner
loop, and leaves the rest of the step in the outer one. Or it uses `accelerator.accumulate()`, and
skips the rest of the step until the last part. A statement between the two may be meant for each
part or for each step. Only one thing tells: a statement that needs what each part has, such as its
labels, and keeps the result under a name of its owner's, has to see all the parts.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from scaffold.merge.diff.depth import depth_change
from scaffold.merge.diff.mapping import Side
from scaffold.merge.diff.triple import Hunk, Triple
from scaffold.merge.semantics.effects import effects_of
from scaffold.merge.semantics.flow import Sources, bound_in, read_in
from scaffold.merge.source.statement import Statements, block_of
from scaffold.merge.source.training import (
    accumulates,
    has_gradients,
    is_done_once,
    limits_gradients,
    waits_for_parts,
)

QUESTION = "does your line belong to each step, or to each part of a step?"

_REPEATS = re.compile(r"(for|while|if|elif|else|try|except|finally|async for|match|case)\b")
_LOOPS = re.compile(r"(for|while|async for)\b")
_LEAVES = re.compile(r"(?m)^\s*(break|continue)\b")  # it would leave the inner loop
_OUTPUT = re.compile(
    r"(\w+\.)*(print|log\w*|info|debug|warning|write\w*|add_scalars?|set_postfix)\("
)


@dataclass(frozen=True)
class _Near:
    """The nearest lines above and below, in the same block, that both sides have."""

    above: int | None = None
    below: int | None = None


def find_split_loops(triple: Triple) -> Iterator[tuple[Hunk, str]]:
    """The gaps with such statements, each with the reason."""
    new = [
        place
        for place, unit in enumerate(triple.theirs.units)
        if place not in triple.theirs.number_of
        and (_LOOPS.match(unit.text.lstrip()) or accumulates(unit.text))
    ]
    if not new:
        return
    units = triple.ours.units
    sources = Sources(units), Sources(triple.theirs.units)
    for gap, places in enumerate(triple.ours.inserts):
        near, level = _Near(), -1
        own: set[str] = set()  # what the owner's lines above make of a part
        for statement in _statements(units, places):
            after, depth = statement[-1] + 1, units[statement[0]].depth
            if after < len(units) and units[after].depth > depth:
                continue  # a block around lines of ours: changed_blocks.py
            if depth != level:  # the statements of a gap and a depth have the same lines around
                near, level = _find_near(triple, statement), depth
            reason = _is_split(triple, gap, statement, near, own)
            reason = reason or _sees_one_part(triple, statement, near, *sources)
            if reason:
                yield (gap, gap), reason
                break


def _statements(units: Statements, places: Sequence[int]) -> Iterator[list[int]]:
    """Each new statement with what is inside of it, without comments."""
    found: list[int] = []
    for place in places:
        if units[place].is_comment:
            continue
        if found and units[place].depth <= units[found[0]].depth:
            yield found
            found = []
        found.append(place)
    if found:
        yield found


def _is_split(
    triple: Triple, gap: int, statement: Sequence[int], near: _Near, own: set[str]
) -> str:
    """Why a statement has no place, if the lines around it go into different loops.

    `own` gets the names that it binds if its place is in the inner one.
    """
    ours, theirs = triple.ours, triple.theirs
    above, below = near.above, near.below
    if below is None:
        return ""
    around_below = _new_heads(theirs, theirs.match[below])
    if above is not None:
        around_above = _new_heads(theirs, theirs.match[above])
    else:  # it is the first in its block, whose head may have been replaced by several
        head = ours.parents[statement[0]]
        known = None if head is None else ours.number_of.get(head)
        if head is None or known is None:
            return ""
        place = theirs.match[known]
        if place is not None:
            around_above = [row for row in around_below if row < place]
        else:
            around_above = around_below[:1]
    if around_above == around_below:
        text = "\n".join(ours.units[place].text for place in statement)
        if _LEAVES.search(text) and _new_loops(theirs, theirs.match[below]):
            return "it would leave another loop"
        if not is_done_once(text):
            return ""
        if any(accumulates(theirs.units[head].text) for head in around_below):
            return QUESTION
        # beside it in the base: some of it may be done once for all parts
        block = [n for n, head in enumerate(triple.parents) if head == triple.parents[below]]
        counts = [len(_new_loops(theirs, place)) for n in block if (place := theirs.match[n])]
        return QUESTION if len(_new_loops(theirs, theirs.match[below])) > min(counts) else ""
    inner = max(around_above, around_below, key=len)
    change = depth_change(triple, ours, theirs, statement[0], gap)
    if inner == around_above and _clips(triple, statement):
        return "" if change == _change_of(triple, below) else QUESTION
    # in front of `with accelerator.accumulate()`, each part comes by, too
    is_before = inner == around_below and bool(accumulates(theirs.units[inner[-1]].text))
    beside = above if inner == around_above and above is not None else below
    fits = is_before and all(_only_computes(triple, place) for place in statement)
    if not fits and _belongs_inside(triple, statement, inner, own):
        fits = is_before or change == _change_of(triple, beside)
    rows = [ours.units[place] for place in statement]
    if fits and read_in(rows) & _bound_in(theirs.units, _loop_of(theirs, inner[-1])).union(own):
        own |= bound_in(rows)
    return "" if fits else QUESTION


def _only_computes(triple: Triple, place: int) -> bool:
    """Whether a statement binds names and changes nothing: it may be done for each part."""
    unit = triple.ours.units[place]
    effects = effects_of(unit)
    changed = effects.changes - triple.modules or effects.parts or effects.binds & effects.reads
    return bool(effects.binds) and not changed and not has_gradients(unit.text)


def _clips(triple: Triple, statement: Sequence[int]) -> bool:
    """Whether a statement limits the gradients, which are complete when all parts are done."""
    return all(limits_gradients(triple.ours.units[place].text) for place in statement)


def _change_of(triple: Triple, number: int) -> int:
    """How much deeper the other side has a unit of the base."""
    there = triple.theirs.of(number)
    return (there.depth if there else 0) - triple.base[number].depth


def _find_near(triple: Triple, statement: Sequence[int]) -> _Near:
    units = triple.ours.units
    depth = units[statement[0]].depth
    found: list[int | None] = []
    for places in (range(statement[0] - 1, -1, -1), range(statement[-1] + 1, len(units))):
        found.append(None)
        for place in places:
            if units[place].is_comment:
                continue
            if units[place].depth < depth:
                break
            number = triple.ours.number_of.get(place)
            if units[place].depth > depth or number is None:
                continue
            if triple.theirs.match[number] is not None:
                found[-1] = number
                break
    return _Near(*found)


def _new_heads(side: Side, place: int | None) -> list[int]:
    """The new loops and conditions around a unit, and blocks of parts, the outermost first."""
    heads: list[int] = []
    for head in side.heads(place):
        text = side.units[head].text.lstrip()
        if head not in side.number_of and (_REPEATS.match(text) or accumulates(text)):
            heads.insert(0, head)
    return heads


def _new_loops(side: Side, place: int | None) -> list[int]:
    """The new loops around a unit."""
    return _loops(side, _new_heads(side, place))


def _loops(side: Side, places: Iterable[int]) -> list[int]:
    """The heads of loops among some units."""
    return [place for place in places if _LOOPS.match(side.units[place].text.lstrip())]


def _belongs_inside(
    triple: Triple, statement: Sequence[int], heads: Sequence[int], own: Collection[str]
) -> bool:
    """Whether a statement has one right place: it needs each part, or sets what each part sets
    anew, and changes nothing else of ours.
    """
    if not heads:
        return False
    text = "\n".join(triple.ours.units[place].text for place in statement)
    if has_gradients(text) or _LEAVES.search(text):
        return False
    inner = _loop_of(triple.theirs, heads[-1])
    inside = _bound_in(triple.theirs.units, inner)
    scope = triple.theirs.units[inner].scope
    ours = {
        name
        for unit in triple.theirs.units
        if unit.scope == scope and not unit.is_comment
        for name in effects_of(unit).binds
    } - inside
    reads: set[str] = set()
    changes: set[str] = set()
    binds: set[str] = set()
    for place in statement:
        effects = effects_of(triple.ours.units[place])
        reads |= effects.reads
        binds |= effects.binds
        changes |= effects.binds | effects.changes | effects.roots
    needs_part = bool(reads & inside.union(own)) or (bool(binds) and binds <= inside)
    return needs_part and not changes & ours - triple.modules


def _loop_of(side: Side, head: int) -> int:
    """The loop over the parts of a step: the head of a block, or around it."""
    around = _loops(side, side.heads(head)) if accumulates(side.units[head].text) else []
    return around[0] if around else head


def _bound_in(units: Statements, head: int) -> set[str]:
    """The names that a block binds, with those of its head."""
    return bound_in(units[row] for row in (head, *block_of(units, head)))


def _sees_one_part(
    triple: Triple, statement: Sequence[int], near: _Near, our_sources: Sources, sources: Sources
) -> str:
    """Why a statement that adds up what it reads would miss most of it, if it would."""
    ours, theirs = triple.ours, triple.theirs
    beside = near.below if near.above is None else near.above
    if beside is None:
        beside = ours.number_of.get(ours.parents[statement[0]] or -1)
    here = None if beside is None else theirs.match[beside]
    if here is None:
        return ""
    for place in statement:
        effects = effects_of(ours.units[place])
        adds_up = bool(effects.changes - triple.modules or effects.binds & effects.reads)
        if _OUTPUT.match(ours.units[place].text.strip()):
            continue
        for name in sorted(effects.reads - effects.binds):
            if not _is_of_this_round(ours, our_sources, statement[0], name):
                continue
            place_there = sources.above(here + (beside == near.above), name)
            heads = _new_heads(theirs, place_there)
            if place_there is not None and place_there not in theirs.number_of:
                heads.append(place_there)
            loops, around = _loops(theirs, heads), _new_loops(theirs, here)
            is_last = set(loops) - set(around) or _is_skipped(theirs, place_there, here)
            if adds_up and is_last and not _goes_on(theirs, loops, name):
                return f"{name} would cover only the last part"
            if place_there in heads and set(around) - set(loops):
                return f"{name} would cover all parts"
    return ""


def _goes_on(side: Side, loops: Sequence[int], name: str) -> bool:
    """Whether each part adds to a name what it binds: `metrics |= evaluate(...)`."""
    rows = [effects_of(side.units[row]) for head in loops for row in block_of(side.units, head)]
    bound = [row for row in rows if name in row.binds]
    return bool(bound) and all(name in row.reads for row in bound)


def _is_skipped(side: Side, bound: int | None, place: int) -> bool:
    """Whether a new `continue` leads to the next part, between where a name is bound and a line."""
    loops = {*_loops(side, side.heads(place))}
    if bound is None or not any(loop <= bound for loop in loops):
        return False
    return any(
        row not in side.number_of
        and waits_for_parts(side.units[row].text)
        and {*_loops(side, side.heads(row))} <= loops
        for row in range(bound + 1, place)
    )


def _is_of_this_round(side: Side, sources: Sources, place: int, name: str) -> bool:
    """Whether a name is bound in each round of the loop that a line is in."""
    found = sources.above(place, name)
    if found is None:
        return False
    loops = _loops(side, (*side.heads(found), found))
    return bool(loops) and set(loops) <= set(side.heads(place))
