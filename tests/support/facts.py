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
    taken: frozenset[tuple[str, str]]  # `from MODULE import NAME`
    of_config: frozenset[str]  # the attributes of `config` and `self.config`
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
    imported, taken, of_config, used = set(), set(), set(), set()
    for node in nodes:
        if isinstance(node, ast.Name):
            used.add(node.id)
        elif isinstance(node, ast.Attribute):
            used.add(node.attr)
            if _is_config(node.value):
                of_config.add(node.attr)
        elif isinstance(node, ast.Import) and node not in optional:
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            taken |= {(module, alias.name) for alias in node.names}
            if node not in optional:
                imported.add(module.partition(".")[0])
    bound = tuple(name for statement in tree.body for name in _bound(statement))
    sets = (frozenset(found) for found in (imported, taken, of_config, used))
    return Facts(*sets, bound, frozenset(_imported_first(tree)))


def _imported_first(tree: ast.Module) -> Iterator[str]:
    for statement in tree.body:
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            yield str(statement.module)


def _is_config(node: ast.expr) -> bool:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return (node.value.id, node.attr) == ("self", "config")
    return isinstance(node, ast.Name) and node.id == "config"


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
