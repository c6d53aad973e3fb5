"""Finds new lines that use a list, or a result, which the other side gives another form.

`buffer.append(row)` becomes `buffer.append((row, mask))` on one side, and the other side reads
`buffer` in a new loop. Or one side returns three values where there were two, and the other side
has a new `return` of two. Each is right by itself.
"""

import ast
from collections.abc import Iterator

from scaffold.merge.diff.mapping import Side
from scaffold.merge.diff.triple import Hunk, Triple
from scaffold.merge.source.parse import nodes_of
from scaffold.merge.source.statement import Statement

_ADDS = ("append", "add", "appendleft", "put")


def find_element_forms(triple: Triple) -> Iterator[tuple[Hunk, str]]:
    """The gaps of such lines, each with the reason."""
    for one, other in ((triple.theirs, triple.ours), (triple.ours, triple.theirs)):
        forms = set(_changed_forms(triple, one))
        names = {name for name, _ in forms}
        for gap, places in enumerate(other.inserts if names else ()):
            for place in places:
                unit = other.units[place]
                added = _added(unit)
                found = names & _elements_used(unit) or ({added[0]} if added in forms else set())
                if found:
                    yield (gap, gap), f"the elements of {min(found)} have another form now"
                    break


def _changed_forms(triple: Triple, side: Side) -> Iterator[tuple[str, int]]:
    """The lists to which a side adds elements of another form, with the form that they had."""
    for number, unit in enumerate(triple.base):
        there = side.of(number)
        if there is None or there.key == unit.key:
            continue
        before, after = _added(unit), _added(there)
        if before and after and before[0] == after[0] and before[1] != after[1]:
            yield before


def _added(unit: Statement) -> tuple[str, int] | None:
    """The list that gets an element, and how many parts that is written with; 0: it is one.

    What a function returns is one of its elements.
    """
    match unit.node:
        case ast.Return(ast.Tuple(elts)):
            return f"{unit.scope}()", len(elts)
        case ast.Return(ast.expr() as value) if not isinstance(value, ast.Constant):
            return f"{unit.scope}()", 0
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(id=name), attr), [value])) if attr in _ADDS:
            return name, len(value.elts) if isinstance(value, ast.Tuple) else 0
    return None


def _elements_used(unit: Statement) -> set[str]:
    """The names whose elements a statement may use: not only their number."""
    nodes = nodes_of(unit.node) if unit.node else []
    counted = {
        id(node.args[0])
        for node in nodes
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "len" and len(node.args) == 1
    }
    return {node.id for node in nodes if isinstance(node, ast.Name) and id(node) not in counted}
