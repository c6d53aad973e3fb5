"""The owner's lines that use a name which goes, and need no other line of what goes with it."""

import ast
import itertools
from collections.abc import Collection

from scaffold.merge.semantics.effects import effects_of, only_adds, only_shows
from scaffold.merge.semantics.flow import bound_in
from scaffold.merge.source.statement import Statement, Statements, block_of


def find_users(ours: Statements, leaving: Collection[str]) -> set[int]:
    """Which of some new lines use what goes, or what others of these make of it."""
    places: set[int] = set()
    gone = {*leaving}
    for place, unit in enumerate(ours):
        if effects_of(unit).reads & gone:
            places |= {place, *block_of(ours, place)}
            gone |= effects_of(unit).binds
    return places


def split_users(
    ours: Statements, leaving: Collection[str]
) -> list[tuple[bool, tuple[Statement, ...]]]:
    """New lines in parts: whether they use what goes, and which they are.

    Nothing, if none does, or if a part of a condition would be left without its head.
    """
    places = find_users(ours, leaving)
    for head in reversed([place for place, unit in enumerate(ours) if unit.is_head]):
        block = block_of(ours, head)
        if {*block} <= places:
            around = ours[head], *ours[block.stop : block.stop + 1]
            if not block or any(unit.continues for unit in around):
                return []
            places.add(head)
    groups = itertools.groupby(range(len(ours)), places.__contains__) if places else ()
    return [(uses, tuple(ours[place] for place in group)) for uses, group in groups]


def adds_to_what_goes(base: Statements, ours: Statements, leaving: Collection[str]) -> bool:
    """Whether the owner only put more into a list or dict of a region, which goes."""
    known = [unit for unit in ours if not unit.origin.startswith("m")]  # without new lines
    if len(base) != 1 or len(known) != 1 or not only_adds(base[0], known[0]):
        return False
    return bool(bound_in(known)) and bound_in(known) <= {*leaving}


def shows_alone(rows: Statements, units: Statements) -> bool:
    """Whether lines of a file only log something, also in `if`, or name a text for that."""
    shown = [unit for unit in rows if only_shows(unit)]
    rest = [unit for unit in rows if unit not in shown and not isinstance(unit.node, ast.If)]
    names = bound_in(rest)
    return (
        bool(shown)
        and all(isinstance(unit.node, ast.Assign) and not effects_of(unit).changes for unit in rest)
        and _reading(rows, names) == _reading(units, names)
    )


def _reading(units: Statements, names: Collection[str]) -> int:
    return sum(bool(effects_of(unit).reads & {*names}) for unit in units)
