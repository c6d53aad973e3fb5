"""The one reader of imports: what a statement, or a file, imports from where."""

import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePosixPath

from scaffold.merge.source.parse import statements_of, tree_of
from scaffold.merge.source.statement import Statement

Node = ast.Import | ast.ImportFrom


@dataclass(frozen=True)
class Import:
    """A name that is imported from a module, or a module (without a name)."""

    module: str  # without the dots in front of it
    name: str
    called: str  # in the code
    level: int = 0  # how many dots there are
    line: int = field(default=0, compare=False)

    @property
    def is_plain(self) -> bool:
        """Whether it is called as it is."""
        return self.called == (self.name or self.module)

    def is_from(self, path: str) -> bool:
        """Whether it is a file of the project, or something of it: `utils.py`, not another
        package's `accelerate.utils`."""
        dotted = "." + path.removesuffix(".py").replace("/", ".")
        whole = f"{self.module}.{self.name}".strip(".")
        return any(name and dotted.endswith(f".{name}") for name in (self.module, whole))


def imports_of(unit: Statement) -> frozenset[Import]:
    node = import_node(unit)
    return frozenset(_read(node)) if node else frozenset()


def is_standard(unit: Statement) -> bool:
    """Whether a statement imports from Python's own library."""
    tops = {row.module.split(".")[0] for row in imports_of(unit) if not row.level}
    return bool(tops) and tops <= sys.stdlib_module_names


def import_node(unit: Statement) -> Node | None:
    """The tree of a statement, if it is an import."""
    node = unit.node if "import" in unit.lines[0] else None
    return node if isinstance(node, Node) else None


@lru_cache(maxsize=512)
def imports_in(text: str) -> tuple[Import, ...]:
    """What a file imports anywhere. Nothing if it is not Python."""
    if "import" not in text:
        return ()
    nodes = [node for node in statements_of(tree_of(text)) if isinstance(node, Node)]
    return tuple(row for node in nodes for row in _read(node))


def _read(node: Node) -> Iterator[Import]:
    for alias in node.names:
        called = alias.asname or alias.name
        if isinstance(node, ast.Import):
            yield Import(alias.name, "", called, 0, node.lineno)
        else:
            yield Import(node.module or "", alias.name, called, node.level, node.lineno)


def module_in(text: str, path: str) -> str:
    """The module at a path, as another file imports names from it, with the dots in front."""
    found = (row for row in imports_in(text) if row.name and row.is_from(path))
    return next(("." * row.level + row.module for row in found), "")


def modules_in(code: Mapping[str, str], path: str) -> Iterator[tuple[str, str]]:
    """How other files import names from one: the path of each, and the module, with its dots."""
    stem = PurePosixPath(path).stem
    for other, text in code.items():
        if stem in text and (module := module_in(text, path)):
            yield other, module


def uses_module(text: str, path: str) -> bool:
    """Whether a file imports another one, or something of it, in whichever package it is."""
    return any(row.is_from(path) for row in imports_in(text))
