"""Local names that a function uses before it sets them."""

import ast
from collections.abc import Iterable, Iterator

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
        for name, line, is_set in _uses(ast.Module(scope.node.body, [])):
            if is_set:
                seen.add(name)
            elif name in scope.names and name not in seen:
                early.setdefault(name, line)
        for name, line in early.items():
            if name in seen:  # it is local
                yield name, line


def _uses(node: ast.AST) -> Iterator[tuple[str, int, bool]]:
    """Names in the order in which they are used or set, as if each block ran once."""
    line = getattr(node, "lineno", 0)
    if isinstance(node, ast.Name):
        yield node.id, line, not isinstance(node.ctx, ast.Load)
    elif isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        yield node.name, line, True
    elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        yield node.target.id, line, False
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name, line, True
    for part in _parts(node):
        yield from _uses(part)


def _parts(node: ast.AST) -> Iterable[ast.AST]:
    """What runs in a node, in this order."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Lambda():
            return ()  # its names are its own
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return ()
        case ast.Assign():
            return (node.value, *node.targets)
        case ast.AnnAssign():
            return (node.value, node.target) if node.value else ()
        case ast.AugAssign() | ast.NamedExpr():
            return (node.value, node.target)
        case ast.For() | ast.AsyncFor():
            return (node.iter, node.target, *node.body, *node.orelse)
    return ast.iter_child_nodes(node)
