"""Shortens a conflict about code that its owner moved elsewhere to what an update changes in it."""

import ast
from collections.abc import Collection, Iterable, Iterator

from scaffold.merge.source.matcher import pairs
from scaffold.merge.source.parse import last_name, nodes_of
from scaffold.merge.source.statement import Statement, Statements, parse_units

_SHORT = 12  # statements: a conflict that is shown whole

Sides = tuple[Statements, Statements]  # base and theirs


def shorten(ours: Statements, sides: Sides, kept: Statements) -> Sides:
    """The changed statements of both sides, each with the heads around it and a line beside it.

    `kept` are the owner's statements outside of the conflict. All statements, unless he has most of
    the others there, or in functions of his in it, maybe of other objects: he did not move them,
    but deleted them.
    """
    base, theirs = sides
    if any(unit.defined for unit in ours) and not any(unit.defined for unit in base):
        kept, ours = [*kept, *ours], ()
    if min(map(len, sides)) < _SHORT or len(ours) > len(base) // 4:
        return sides
    one, two = ([(unit.key, unit.depth - side[0].depth) for unit in side] for side in sides)
    same = dict(pairs(one, two))
    known = set(map(_names_in, kept))
    names = [found for place in same if (found := _names_in(base[place]))]
    if 2 * sum(found in known for found in names) < len(names):
        return sides
    back = {there: place for place, there in same.items()}
    shown = {*_around(base, same), *(back[row] for row in _around(theirs, back))}
    left = [unit for place, unit in enumerate(base) if place not in same or place in shown]
    there = {same[place] for place in shown}
    right = [unit for place, unit in enumerate(theirs) if place not in back or place in there]
    return (left, right) if parse_units(left) and parse_units(right) else sides


def _names_in(unit: Statement) -> frozenset[str]:
    """The last names that a statement uses: `step` of `self.schedule.step()`."""
    nodes = nodes_of(unit.node) if unit.node else []
    objects = {node.value for node in nodes if isinstance(node, ast.Attribute)}
    return frozenset(last_name(node) for node in nodes if node not in objects) - {""}


def _around(side: Statements, same: Collection[int]) -> Iterator[int]:
    """The heads around each changed statement, and an unchanged one above or below in its block."""
    for place, unit in enumerate(side):
        if place in same:
            continue
        depth = unit.depth
        for row in range(place - 1, -1, -1):
            if side[row].depth < depth and not side[row].is_comment:
                depth = side[row].depth
                yield from {row} & {*same}
        for rows in (range(place - 1, -1, -1), range(place + 1, len(side))):
            found = _beside(side, rows, unit.depth)
            if found in same:
                yield found
                break


def _beside(side: Statements, rows: Iterable[int], depth: int) -> int:
    """The first of these statements that is in the block of this depth, and opens none. -1: none"""
    for row in rows:
        if side[row].depth < depth:
            break
        if side[row].depth == depth and not side[row].is_head:
            return row
    return -1
