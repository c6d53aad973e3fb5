"""What rendered code holds, read once for each text: by whichever process needs it first."""

import ast
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from support.shared import made_once


@dataclass(frozen=True)
class Facts:
    """Of a Python file."""

    imported: frozenset[str]  # top-level modules, but for one whose absence the code explains
    used: frozenset[str]  # names and attributes
    bound: tuple[str, ...]  # names that a statement at the top defines
    first: frozenset[str]  # modules that are imported as soon as it is imported


@cache
def facts(text: str) -> Facts:
    """Raises SyntaxError for code that Python can't compile."""
    return made_once(f"facts {hashlib.sha256(text.encode()).hexdigest()}", lambda: _read(text))


def _read(text: str) -> Facts:
    tree = ast.parse(text)
    compile(tree, "a file", "exec")  # which finds more than the parser
    nodes = list(ast.walk(tree))
    optional: set[ast.stmt] = set()
    for node in nodes:
        if isinstance(node, ast.Try) and "pip install" in "".join(map(ast.unparse, node.handlers)):
            optional |= set(node.body)
    imported, used = set[str](), set[str]()
    for node in nodes:
        if isinstance(node, ast.Name):
            used.add(node.id)
        elif isinstance(node, ast.Attribute):
            used.add(node.attr)
        elif isinstance(node, ast.Import) and node not in optional:
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node not in optional:
            imported.add((node.module or "").partition(".")[0])
    bound = tuple(name for statement in tree.body for name in _bound(statement))
    return Facts(frozenset(imported), frozenset(used), bound, frozenset(_imported_first(tree)))


def _imported_first(tree: ast.Module) -> Iterator[str]:
    for statement in tree.body:
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            yield str(statement.module)


def _bound(statement: ast.stmt) -> list[str]:
    """The names that a statement at the top of a module defines."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return [statement.target.id]
    if isinstance(statement, ast.Assign):
        targets = [node for target in statement.targets for node in ast.walk(target)]
        return [node.id for node in targets if isinstance(node, ast.Name)]
    return []
