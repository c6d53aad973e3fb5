"""Puts statements that the owner left out of a new function where they stand: below its call."""

from collections.abc import Sequence
from itertools import takewhile

from scaffold.merge.diff.mapping import Side, align
from scaffold.merge.semantics.flow import Function, functions
from scaffold.merge.source.statement import Statement, Statements, block_of


def move_kept(
    base: Statements, ours: Statements, theirs: Statements
) -> tuple[Statements, Statements]:
    """Base and theirs in the owner's order, so that what went into a function is one run."""
    old, new = functions(base), functions(ours)
    for name in old.keys() & new.keys():
        for target in (new[other] for other in new.keys() - old.keys()):
            run = _find_run(base, ours, (old[name], new[name]), target)
            if run is None:
                continue
            kept, last = run
            side = align(base, theirs)
            there = [side.match[number] for number in (*kept, last)]
            places = [place for place in there if place is not None]
            if len(places) == len(there) and len({theirs[place].depth for place in places}) == 1:
                base = _below(base, kept, last)
                theirs = _below(theirs, _with_new(side, places), places[-1])
                old = functions(base)
    return base, theirs


def _find_run(
    base: Statements, ours: Statements, owners: tuple[Function, Function], target: Function
) -> tuple[list[int], int] | None:
    """The statements between those that are in a new function, and the last one of these."""
    before, now = owners
    calls = [n for n in now.lines if f"{target.name}(" in ours[n].text]
    if len(calls) != 1:
        return None
    inside = {ours[n].key for n in target.lines}
    left = {ours[n].key for n in now.lines}
    gone = [n for n in before.lines if base[n].key in inside - left and not base[n].is_comment]
    level = min((base[n].depth for n in gone), default=0)
    gone = [n for n in gone if base[n].depth == level]
    if len(gone) < 2:
        return None
    between = [n for n in range(gone[0], gone[-1]) if base[n].depth == level]
    kept = [n for n in between if base[n].key not in inside]
    below = takewhile(lambda unit: unit.depth >= ours[calls[0]].depth, ours[calls[0] + 1 :])
    found = [base[n].key for n in kept]
    if not kept or [unit.key for unit in below][: len(kept)] != found:
        return None
    return (kept, gone[-1]) if not any(base[n].is_head for n in kept) else None


def _with_new(side: Side, places: Sequence[int]) -> list[int]:
    """The statements above the last one, with new ones of that side below each."""
    *kept, last = places
    return [
        row
        for place in kept
        for row in (
            place,
            *takewhile(lambda row: row not in side.number_of, range(place + 1, last)),
        )
    ]


def _below(units: Statements, rows: Sequence[int], last: int) -> list[Statement]:
    """The statements with some of them below another one, and what is in its block."""
    end = block_of(units, last).stop
    above = [unit for number, unit in enumerate(units[:end]) if number not in rows]
    return [*above, *(units[row] for row in rows), *units[end:]]
