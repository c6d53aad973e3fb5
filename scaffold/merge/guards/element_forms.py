"""Finds new lines that use a list whose elements the other side gives another form.

`buffer.append(row)` becomes `buffer.append((row, mask))` on one side, and the other side reads
`buffer` in a new loop. Each is right by itself.
"""

import ast
from collections.abc import Iterator

from scaffold.merge.diff.mapping import Side
from scaffold.merge.diff.triple import Hunk, Triple
from scaffold.merge.source.statement import PYTHON, Statement

_ADDS = ("append", "add", "appendleft", "put")


def find_element_forms(triple: Triple) -> Iterator[tuple[Hunk, str]]:
    """The gaps of such lines, each with the reason."""
    if triple.kind != PYTHON:
        return
    for one, other in ((triple.theirs, triple.ours), (triple.ours, triple.theirs)):
        names = set(_changed_lists(triple, one))
        for gap, places in enumerate(other.inserts if names else ()):
            for place in places:
                unit = other.units[place]
                found = names & _elements_used(unit)
                if found:
                    yield (gap, gap), f"the elements of {min(found)} have another form now"
                    break


def _changed_lists(triple: Triple, side: Side) -> Iterator[str]:
    """The lists to which a side adds elements of another form."""
    for number, unit in enumerate(triple.base):
        there = side.of(number)
        if there is None or there.key == unit.key:
            continue
        before, after = _added(unit), _added(there)
        if before and after and before[0] == after[0] and before[1] != after[1]:
            yield before[0]


def _added(unit: Statement) -> tuple[str, int] | None:
    """The list that gets an element, and how many parts that is written with; 0: it is one."""
    match unit.node:
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(id=name), attr), [value])) if attr in _ADDS:
            return name, len(value.elts) if isinstance(value, ast.Tuple) else 0
    return None


def _elements_used(unit: Statement) -> set[str]:
    """The names whose elements a statement may use: not only their number."""
    nodes = list(ast.walk(unit.node)) if unit.node else []
    counted = {
        id(node.args[0])
        for node in nodes
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "len" and len(node.args) == 1
    }
    return {node.id for node in nodes if isinstance(node, ast.Name) and id(node) not in counted}
