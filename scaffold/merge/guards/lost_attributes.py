"""Finds deleted lines, `self.file = ...`, that set what methods of the owner's still read."""

import ast
from collections.abc import Iterator

from scaffold.merge.diff.triple import Hunk, Triple
from scaffold.merge.source.parse import nodes_of
from scaffold.merge.source.statement import Statement


def find_lost_attributes(triple: Triple) -> Iterator[tuple[Hunk, str]]:
    """The lines, each with the reason to ask about it."""
    ours, theirs = triple.ours, triple.theirs
    deleted = {n for n, place in enumerate(theirs.match) if place is None and ours.of(n)}
    if not any(_attributes(triple.base[number], ast.Store) for number in deleted):
        return
    kept = [
        unit for place, unit in enumerate(ours.units) if ours.number_of.get(place) not in deleted
    ]
    read, known = (
        {name for unit in units for name in _attributes(unit, context)}
        for units, context in ((kept, ast.Load), ([*kept, *theirs.units], ast.Store))
    )
    for number in sorted(deleted):
        for name in sorted(_attributes(triple.base[number], ast.Store) & read - known):
            yield (number, number + 1), f"self.{name[1]} would be undefined"


def _attributes(unit: Statement, context: type[ast.expr_context]) -> set[tuple[str, str]]:
    """The attributes of `self` that a statement reads or sets, each with its class."""
    nodes = nodes_of(unit.node) if unit.node and "self." in unit.text else []
    return {
        (unit.scope.split(".")[0], node.attr)
        for node in nodes
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, context)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    }
