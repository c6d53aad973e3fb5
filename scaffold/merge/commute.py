"""Whether statements that two people inserted at one spot may stand there in either order."""

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from scaffold.merge.align import role
from scaffold.merge.units import Unit

# methods that are called for what they show, not for what they change
_HARMLESS = {"print", "log", "info", "debug", "warning", "write", "item", "format", "parameters"}


@dataclass
class Effects:
    """What a stretch of code does to names, as far as its text shows."""

    binds: set[str] = field(default_factory=set)
    reads: set[str] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)  # by a method, or by setting a part
    parts: set[str] = field(default_factory=set)  # `a["b"]` that are set
    leaves: bool = False  # break, continue, return or raise


def can_commute(one: Sequence[Unit], two: Sequence[Unit], modules: Collection[str]) -> bool:
    """Whether neither stretch can notice which of them stands first.

    `modules` are imported names, whose methods change nothing that is named here.
    """
    trees = [_parse(units) for units in (one, two)]
    if trees[0] is None or trees[1] is None:
        return False
    first, second = (_effects(tree, modules) for tree in trees if tree is not None)
    for x, y in ((first, second), (second, first)):
        if x.binds & (y.binds | y.reads):
            return False
        if x.changes & (y.changes | {part.split("[")[0].split(".")[0] for part in y.parts}):
            return False
        if x.changes & y.reads - y.changes and (y.binds or y.changes):
            return False
        if x.parts & y.parts:
            return False
        if x.leaves and (y.leaves or y.binds or y.changes or y.parts):
            return False
    return True


def _parse(units: Sequence[Unit]) -> ast.Module | None:
    level = min(unit.depth for unit in units)
    text = "\n".join(unit.at(unit.depth - level, "    ").text for unit in units)
    after = "    " * (units[-1].depth - level + 1) + "pass"
    for source in (text, f"{text}\n{after}"):
        try:
            return ast.parse(source)
        except SyntaxError:
            continue
    return None


def _effects(tree: ast.Module, modules: Collection[str]) -> Effects:
    found = Effects()
    for node in _walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.binds.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found.binds |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.Break | ast.Continue | ast.Return | ast.Raise):
            found.leaves = True
        elif isinstance(node, ast.Name):
            (found.reads if isinstance(node.ctx, ast.Load) else found.binds).add(node.id)
        elif isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
                found.parts.add(ast.unparse(node))
            elif root := _root(node):
                found.changes.add(root)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            root = _root(node.func)
            if root and root not in modules and node.func.attr not in _HARMLESS:
                found.changes.add(root)
    return found


_LATER = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda


def _walk(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those inside definitions, whose names are their own."""
    for node in ast.iter_child_nodes(tree):
        yield node
        if isinstance(node, _LATER):
            continue
        yield from _walk(node)


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def same_purpose(unit: Unit, own: Iterable[Unit], known: Iterable[Unit]) -> bool:
    """Whether the owner already added something of the same name, that is not the same.

    `own` are the owner's new units, `known` those of the base.
    """
    purpose = role(unit)
    if len(purpose) < 2 or purpose[0] in ("Import", "ImportFrom", "Return") or not purpose[1]:
        return False
    if any(row.scope == unit.scope and role(row) == purpose for row in known):
        return False
    return any(
        row.scope == unit.scope
        and role(row) == purpose
        and (row.key, row.depth) != (unit.key, unit.depth)
        for row in own
    )
