"""Local names that a function uses before it sets them."""

import ast
from collections.abc import Iterator

from scaffold.merge.semantics.effects import COMPREHENSIONS
from scaffold.merge.semantics.scopes import FUNCTIONS, Facts, Parameter
from scaffold.merge.source.parse import nodes_of


def used_too_early(facts: Facts) -> Iterator[tuple[str, int]]:
    """Each of these names, and the line of its first use."""
    for scope in facts.scopes.values():
        if not isinstance(scope.node, FUNCTIONS):
            continue
        seen = {name for name, found in scope.names.items() if isinstance(found[0], Parameter)}
        for node in nodes_of(scope.node):
            if isinstance(node, ast.Global | ast.Nonlocal):
                seen |= set(node.names)
        early: dict[str, int] = {}
        for name, line, is_set in _uses(scope.node.body):
            if is_set:
                seen.add(name)
            elif name in scope.names and name not in seen:
                early.setdefault(name, line)
        for name, line in early.items():
            if name in seen:  # it is local
                yield name, line


def _uses(nodes: list[ast.stmt]) -> Iterator[tuple[str, int, bool]]:
    """Names in the order in which they are used or set, as if each block ran once."""
    for node in nodes:
        yield from _in_order(node)


def _in_order(node: ast.AST) -> Iterator[tuple[str, int, bool]]:
    if isinstance(node, ast.Name):
        yield node.id, node.lineno, not isinstance(node.ctx, ast.Load)
    elif isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        yield node.name, node.lineno, True
    elif isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            yield (alias.asname or alias.name).split(".")[0], node.lineno, True
    elif isinstance(node, (*COMPREHENSIONS, ast.Lambda)):
        return  # its names are its own
    elif isinstance(node, ast.AugAssign):
        yield from _in_order(node.value)
        if isinstance(node.target, ast.Name):
            yield node.target.id, node.lineno, False
        yield from _in_order(node.target)
    elif isinstance(node, ast.Assign):
        yield from _in_order(node.value)
        for target in node.targets:
            yield from _in_order(target)
    elif isinstance(node, ast.AnnAssign):
        if node.value is not None:
            yield from _in_order(node.value)
            yield from _in_order(node.target)
    elif isinstance(node, ast.For | ast.AsyncFor):
        for part in (node.iter, node.target, *node.body, *node.orelse):
            yield from _in_order(part)
    elif isinstance(node, ast.NamedExpr):
        yield from _in_order(node.value)
        yield from _in_order(node.target)
    else:
        if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            yield node.name, getattr(node, "lineno", 0), True
        for child in ast.iter_child_nodes(node):
            yield from _in_order(child)
