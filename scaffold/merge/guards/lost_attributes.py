"""Finds deleted lines, `self.file = ...`, that set what methods of the owner's still read."""

import ast
from collections.abc import Iterator

from scaffold.merge.diff.assemble import Assembly, choose
from scaffold.merge.diff.triple import Hunk
from scaffold.merge.source.parse import nodes_of
from scaffold.merge.source.statement import Statement


def find_lost_attributes(assembly: Assembly) -> Iterator[tuple[Hunk, str]]:
    """The lines, each with the reason to ask about it."""
    lost = [
        (number, name)
        for number, unit in enumerate(assembly.base)
        if assembly.theirs.of(number) is None and assembly.ours.of(number)
        for name in sorted(_attributes(unit, ast.Store))
    ]
    pieces = assembly.merge() if lost else []
    merged = choose(pieces, lambda clash: clash.theirs)
    read, known = (
        {name for unit in merged for name in _attributes(unit, context)}
        for context in (ast.Load, ast.Store)
    )
    for number, name in lost:
        if name in read - known:
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
