"""Decides whether statements inserted in the same place can stand there in either order."""

import ast
import builtins
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from scaffold.merge.diff.mapping import role
from scaffold.merge.source.statement import Unit, parse_unit

# methods that are called for their output, not for what they change
_HARMLESS = {"print", "log", "info", "debug", "warning", "write", "item", "format", "parameters"}


@dataclass
class Effects:
    """What some code does to names, as far as its text shows."""

    binds: set[str] = field(default_factory=set)
    reads: set[str] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)  # by a method, or by setting a part
    parts: set[str] = field(default_factory=set)  # `a["b"]` that are set
    leaves: bool = False  # break, continue, return or raise

    def without(self, names: Collection[str]) -> "Effects":
        """The effects on all other names."""
        parts = {part for part in self.parts if re.split(r"[.\[]", part)[0] not in names}
        binds, reads, changes = (
            found - set(names) for found in (self.binds, self.reads, self.changes)
        )
        return Effects(binds, reads, changes, parts, self.leaves)


def can_commute(
    one: Sequence[Unit],
    two: Sequence[Unit],
    modules: Collection[str],
    given: Collection[str] = (),
) -> bool:
    """Whether neither part can notice which of them comes first, apart from the names `given`.

    `modules` are imported names, whose methods change nothing that is named here.
    """
    trees = [_parse(units) for units in (one, two)]
    if trees[0] is None or trees[1] is None:
        return False
    first, second = (read_effects(tree, modules).without(given) for tree in trees if tree)
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


@lru_cache(maxsize=262_144)
def effects_of(text: str) -> Effects:
    """The effects of one statement, or of the head of a block. Imported names count as others."""
    found = parse_unit(text)
    if found is None:
        return Effects()
    effects = read_effects(ast.Module([found[1]], []), ())
    if isinstance(found[1], ast.AugAssign) and (root := _root(found[1].target)):
        effects.reads.add(root)
    return effects


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


def read_effects(tree: ast.AST, modules: Collection[str]) -> Effects:
    found = Effects()
    inner = _inner_nodes(tree)
    for node in _walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.binds.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found.binds |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.Return | ast.Raise):
            found.leaves = True
        elif isinstance(node, ast.Break | ast.Continue):
            found.leaves |= node not in inner
        elif isinstance(node, ast.Name) and node not in inner:
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


_INNER = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def _inner_nodes(tree: ast.AST) -> set[ast.AST]:
    """The variables of comprehensions, where they are theirs; and what leaves only a loop here."""
    found: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, _INNER):
            targets = [part.target for part in node.generators]
            own = {
                row.id for part in targets for row in ast.walk(part) if isinstance(row, ast.Name)
            }
            # the first one is read outside
            outside = set(ast.walk(node.generators[0].iter))
            found |= {
                row
                for row in ast.walk(node)
                if isinstance(row, ast.Name) and row.id in own and row not in outside
            }
        elif isinstance(node, ast.For | ast.While | ast.AsyncFor):
            for statement in node.body:
                found |= {
                    row for row in ast.walk(statement) if isinstance(row, ast.Break | ast.Continue)
                }
    return found


_LATER = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda


def _walk(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes except those inside definitions, which have their own names."""
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
    """Whether the owner already added something different for the same purpose.

    That is: something with the same name, or another call with a name as specific as
    `clip_grad_norm_`. `own` are the owner's new units, `known` those of the base.
    """
    purposes = _purposes(unit)
    for row in known:
        if row.scope == unit.scope and purposes:
            purposes = purposes - _purposes(row)
    return bool(purposes) and any(
        row.scope == unit.scope
        and (row.key, row.depth) != (unit.key, unit.depth)
        and not purposes.isdisjoint(_purposes(row))
        for row in own
    )


def _purposes(unit: Unit) -> frozenset[tuple[str, ...]]:
    purpose = role(unit)
    named = len(purpose) > 1 and purpose[0] not in ("Import", "ImportFrom", "Return")
    found = {purpose} if named and purpose[1] else set()
    if unit.is_code and not unit.is_comment:
        found |= {("call", name) for name in _telling_calls(unit.text.strip())}
    return frozenset(found)


@lru_cache(maxsize=262_144)
def _telling_calls(text: str) -> frozenset[str]:
    """The names of several words that a statement calls."""
    found = parse_unit(text)
    names = map(_name, _outer_calls(found[1])) if found else ()
    return frozenset(name for name in names if "_" in name.strip("_"))


def _outer_calls(tree: ast.AST) -> Iterator[ast.Call]:
    """The calls of a statement, without those that only make arguments for another function.

    What is built in, as float(), only looks at a result.
    """
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Call):
            yield node
            if not hasattr(builtins, _name(node)):
                yield from _outer_calls(ast.Expr(node.func))
                continue
        yield from _outer_calls(node)


def _name(call: ast.Call) -> str:
    """What a call calls, without the object of a method."""
    func = call.func
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
