"""What statements do to names, as far as their text shows."""

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from scaffold.merge.source.statement import parse_unit

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
