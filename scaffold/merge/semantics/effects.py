"""What statements do to names, as far as their text shows."""

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from scaffold.merge.source.parse import last_name, nodes_of
from scaffold.merge.source.statement import Statement, parse_unit
from scaffold.merge.source.training import QUIET_METHODS, READING_METHODS

# methods that are called for their output, not for what they change
_OUTPUT = {"print", "log", "info", "debug", "warning", "write"}
_HARMLESS = QUIET_METHODS | _OUTPUT | {"format"}


@dataclass
class Effects:
    binds: set[str] = field(default_factory=set)
    reads: set[str] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)  # by a method, or by setting a part
    parts: set[str] = field(default_factory=set)  # `a["b"]` that are set
    leaves: bool = False  # break, continue, return or raise

    @property
    def roots(self) -> set[str]:
        """The variables whose parts are set: `a` of `a["b"]`."""
        return {_root(part) for part in self.parts}

    def without(self, names: Collection[str]) -> "Effects":
        """The effects on all other names."""
        parts = {part for part in self.parts if _root(part) not in names}
        binds, reads, changes = (
            found - set(names) for found in (self.binds, self.reads, self.changes)
        )
        return Effects(binds, reads, changes, parts, self.leaves)


def _root(part: str) -> str:
    return re.split(r"[.\[]", part)[0]


def only_shows(unit: Statement) -> bool:
    """Whether a statement calls something for its output alone: `bar.set_postfix(...)`."""
    return _called(unit) in _HARMLESS


def only_adds(base: Statement, unit: Statement) -> bool:
    """Whether a statement puts more into a list or dict than before."""
    values = [getattr(row.node, "value", None) for row in (base, unit)]
    if not all(isinstance(value, _LISTS) for value in values):
        return False
    known, found = ({*map(ast.unparse, ast.iter_child_nodes(value))} for value in values if value)
    return known <= found and effects_of(base).binds == effects_of(unit).binds


_LISTS = ast.Dict | ast.List | ast.Set | ast.Tuple


def shows_text(call: ast.Call) -> bool:
    """Whether a call only shows one text: `print(f"{loss}")`."""
    (text,) = call.args if len(call.args) == 1 and not call.keywords else (None,)
    is_text = isinstance(text, ast.Constant) and isinstance(text.value, str)
    return last_name(call.func) in _OUTPUT and (is_text or isinstance(text, ast.JoinedStr))


def calls_instead(old: Statement, unit: Statement) -> bool:
    """Whether a statement makes another call, with all that the old one reads."""
    is_call = bool(_called(old) and _called(unit)) and unit.depth == old.depth
    return is_call and effects_of(old).reads <= effects_of(unit).reads


def can_be_repeated(unit: Statement) -> bool:
    """Whether a statement makes a call that does no harm if it is made twice: `path.mkdir()`."""
    return _called(unit) in QUIET_METHODS


def _called(unit: Statement) -> str:
    """The function or method that a statement calls, if it does nothing else."""
    call = unit.node.value if isinstance(unit.node, ast.Expr) else None
    return last_name(call.func) if isinstance(call, ast.Call) else ""


def effects_of(unit: Statement) -> Effects:
    """The effects of one statement, or of the head of a block. Imported names count as others."""
    return Effects() if unit.is_comment else _effects_of(unit.text.strip())


@lru_cache(maxsize=262_144)
def _effects_of(text: str) -> Effects:
    found = parse_unit(text)
    if found is None:
        return Effects()
    effects = read_effects(ast.Module([found[0]], []))
    if isinstance(found[0], ast.AugAssign) and (root := root_of(found[0].target)):
        effects.reads.add(root)
    return effects


def read_effects(
    tree: ast.AST, modules: Collection[str] = (), *, attributes: bool = True
) -> Effects:
    """The effects of a tree, without those of the bodies of definitions in it.

    `attributes`: whether setting one changes the object.
    """
    found = Effects()
    inner = _inner_nodes(tree)
    for node in outer_nodes(tree):
        if isinstance(node, ast.Return | ast.Raise):
            found.leaves = True
        elif isinstance(node, ast.Break | ast.Continue):
            found.leaves |= node not in inner
        elif isinstance(node, ast.Name) and node not in inner:
            (found.reads if isinstance(node.ctx, ast.Load) else found.binds).add(node.id)
        elif isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
                found.parts.add(ast.unparse(node))
            elif (root := root_of(node)) and (attributes or isinstance(node, ast.Subscript)):
                found.changes.add(root)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            root = root_of(node.func)
            quiet = node.func.attr in _HARMLESS or node.func.attr in READING_METHODS
            if root and root not in modules and not quiet:
                found.changes.add(root)
        else:
            found.binds |= set(_bound_otherwise(node))
    return found


def _bound_otherwise(node: ast.AST) -> Iterator[str]:
    """The names that a node binds which are no nodes of their own."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((alias.asname or alias.name).split(".")[0] for alias in node.names)
    elif isinstance(node, ast.Global | ast.Nonlocal):
        yield from node.names
    elif isinstance(node, (*_BODIES, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        yield from filter(None, [node.name])


def _inner_nodes(tree: ast.AST) -> set[ast.AST]:
    """The variables of comprehensions and lambdas; and what leaves only a loop in the tree."""
    found: set[ast.AST] = set()
    for node in nodes_of(tree):
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            own = {row.id for part in node.generators for row in _names_in(part.target)}
            outside = {*nodes_of(node.generators[0].iter)}  # which is read outside
            found |= {row for row in _names_in(node) if row.id in own and row not in outside}
        elif isinstance(node, ast.Lambda):
            names = {row.arg for row in nodes_of(node.args) if isinstance(row, ast.arg)}
            found |= {row for row in _names_in(node.body) if row.id in names}
        elif isinstance(node, ast.For | ast.While | ast.AsyncFor):
            for statement in node.body:
                found |= {
                    row for row in nodes_of(statement) if isinstance(row, ast.Break | ast.Continue)
                }
    return found


def _names_in(tree: ast.AST) -> Iterator[ast.Name]:
    return (node for node in nodes_of(tree) if isinstance(node, ast.Name))


_BODIES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def outer_nodes(tree: ast.AST) -> list[ast.AST]:
    """All nodes except those in the bodies of definitions, which have their own names."""
    found = nodes_of(tree)
    inside = {
        id(part)
        for node in found
        if isinstance(node, _BODIES)
        for row in node.body
        for part in nodes_of(row)
    }
    return [node for node in found[1:] if id(node) not in inside] if inside else found[1:]


def own_nodes(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.AST]:
    """The nodes of a function's body, without those of functions in it."""
    return outer_nodes(ast.Module(function.body, []))


def root_of(node: ast.AST) -> str:
    """The name that an expression begins with: `model` of `model.layers[0].weight`."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
