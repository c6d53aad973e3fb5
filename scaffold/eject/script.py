"""The user's script, with what it imports from its folder, as one text. Nothing is executed."""

import ast
import re
import symtable
from collections.abc import Iterator
from functools import cached_property, lru_cache
from pathlib import Path

from scaffold.check.source import Source
from scaffold.errors import ScaffoldError

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)


class Script:
    """One text of several files, its tree, where each line comes from, and what names mean."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._parts: list[tuple[int, Source]] = []  # the line (from 0) where each file starts
        self.rows: list[str] = []
        self._read(path, {path})
        self.text = "\n".join(self.rows) + "\n"
        self.source = Source("script.py", self.text)
        self.tree = self.source.tree
        self.imports: dict[str, str] = {}  # the statement that imports each name
        for name, statement in imports_of(*ast.walk(self.tree)):
            before = self.imports.get(name) if statement.startswith("import ") else None
            self.imports[name] = f"{before}\n{statement}" if before else statement
        # what the module binds, by name, without imports: definitions, constants, blocks
        self.definitions: dict[str, ast.stmt] = {}
        self.define(*self.tree.body)

    def define(self, *parts: ast.stmt) -> None:
        """Raises ScaffoldError for a function that was another one when it was used."""
        for part in [part for part in parts if not isinstance(part, IMPORTS)]:
            name = getattr(part, "name", "")
            first = self.definitions.get(name, part)
            rows = [row for row in parts if first.lineno < row.lineno < part.lineno]
            if name in used_names(*(row for row in rows if not isinstance(row, DEFINITIONS))):
                raise self.error(part, f"{name} is another one above: rename one of them.")
            self.definitions |= dict.fromkeys(bound_names(part), part)

    def _read(self, path: Path, seen: set[Path]) -> None:
        source = _read_source(path)
        rows = source.text.rstrip("\n").split("\n")
        for node in source.tree.body:
            gone = path != self.path and (is_text(node) or is_main(node))
            renamed = []
            if isinstance(node, IMPORTS):
                module = self._module(node, path)
                if module and module not in seen:
                    seen.add(module)
                    self._read(module, seen)
                gone = bool(module) or getattr(node, "module", "") == "__future__"
                renamed = [a for a in node.names if module and a.asname]
            if gone:
                start, end = node.lineno - 1, node.end_lineno or node.lineno
                rows[start:end] = [""] * (end - start)
                rows[start] = "; ".join(f"{a.asname} = {a.name}" for a in renamed)
        self._parts.append((len(self.rows), source))
        self.rows += rows

    def _module(self, node: ast.Import | ast.ImportFrom, path: Path) -> Path | None:
        """The file of the script's folder that a statement imports from."""
        names, level = [alias.name for alias in node.names], 0
        home = self.path.parent
        if isinstance(node, ast.ImportFrom):
            names, level = [node.module or "."], node.level
            home = path.parents[level - 1] if level else home
        for name in names:
            place = home.joinpath(*name.split("."))
            files = [place.parent / f"{place.name}.py", place / "__init__.py"]
            found = [file for file in files if file.is_file() and file != path]
            if found and isinstance(node, ast.ImportFrom) and node.module:
                return found[0]
            if found or level:
                raise ScaffoldError(
                    f"{path}:{node.lineno}: `{ast.unparse(node)}` of a file in this folder "
                    "can't be followed: write `from FILE import NAMES`."
                )
        return None

    @cached_property
    def headline(self) -> str:
        """The comments at the top of the script, such as a licence, and its docstring."""
        start, source = self._parts[-1]
        first = next((node.lineno for node in source.tree.body if not is_text(node)), 1)
        head = "\n".join(self.rows[start : start + first - 1])
        return "" if source.is_notebook else re.sub(r"\"{3}|'{3}", "", head).strip()

    def place(self, node: ast.AST) -> str:
        """The file and line of a node, as people look for it."""
        line = int(getattr(node, "lineno", 1))
        start, source = next(part for part in reversed(self._parts) if part[0] < line)
        return f"{Path(source.path).name}:{source.place(line - start)}"

    def error(self, node: ast.AST, text: str) -> ScaffoldError:
        """An error with its file and line."""
        return ScaffoldError(f"{self.place(node)}: {text}")

    def code(self, node: ast.AST) -> str:
        """The text of a node as it was written, without its indentation."""
        return ast.get_source_segment(self.text, node) or ast.unparse(node)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The statement that a node stands in."""
        while not isinstance(node, ast.stmt):
            node = self.source.parents[id(node)]
        return node

    def named(self, node: ast.expr | None) -> str:
        """What a name or attribute stands for, by its imports: `torch.optim.SGD`."""
        while isinstance(node, (ast.Call, ast.Subscript)):
            node = node.func if isinstance(node, ast.Call) else node.value
        found = self.source.origins(node) if node is not None else ()
        return min(found, default=ast.unparse(node) if node is not None else "")

    def own_class(self, node: ast.AST | None) -> ast.ClassDef | None:
        """The class of the script that an expression names."""
        found = self.definitions.get(getattr(node, "id", ""))
        return found if isinstance(found, ast.ClassDef) else None

    def bases(self, node: ast.ClassDef | None) -> list[ast.ClassDef]:
        """A class of the script and those that it extends, the nearest first."""
        found = [node] if node else []
        for base in node.bases if node else ():
            found += [part for part in self.bases(self.own_class(base)) if part not in found]
        return found

    def methods(self, node: ast.ClassDef | None) -> dict[str, ast.FunctionDef]:
        """Those of a class of the script and of those that it extends."""
        found: dict[str, ast.FunctionDef] = {}
        for part in reversed(self.bases(node)):
            found |= {row.name: row for row in part.body if isinstance(row, ast.FunctionDef)}
        return found

    def is_a(self, node: ast.expr | None, pattern: str) -> bool:
        """Whether a class is one of another package, or one of the script that extends it."""
        own = [base for part in self.bases(self.own_class(node)) for base in part.bases]
        return any(re.fullmatch(pattern, self.named(name)) for name in [node, *own])

    def calls_of(self, pattern: str) -> list[ast.Call]:
        """The calls of such a class."""
        return [n for n in self.source.calls(*self.source.called) if self.is_a(n.func, pattern)]


def _read_source(path: Path) -> Source:
    """Raises ScaffoldError for what is not Python."""
    try:
        return Source(str(path), path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, SyntaxError, RecursionError) as error:
        line = getattr(error, "lineno", None) or 1
        raise ScaffoldError(f"{path}:{line}: not valid Python: {error}") from None


def imports_of(*nodes: ast.AST) -> Iterator[tuple[str, str]]:
    """Each name that statements import, with a statement that imports it alone."""
    for node in [node for node in nodes if isinstance(node, IMPORTS)]:
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            if isinstance(node, ast.Import):
                yield name, ast.unparse(ast.Import([alias]))
            elif node.module:
                yield name, ast.unparse(ast.ImportFrom(node.module, [alias], 0))


def is_text(node: ast.stmt) -> bool:
    """Whether a statement is a docstring."""
    return isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str)


def is_main(node: ast.AST) -> bool:
    """Whether a statement is `if __name__ == "__main__":`."""
    return ast.unparse(node).startswith("if __name__ ==")


def bound_names(node: ast.AST | str) -> frozenset[str]:
    """The names that a statement, or a text, binds in its scope."""
    return _names(node if isinstance(node, str) else ast.unparse(node))[0]


def used_names(*nodes: ast.AST | str) -> frozenset[str]:
    """The names of outer scopes that these read. Those that a function binds are left out."""
    texts = [node if isinstance(node, str) else ast.unparse(node) for node in nodes]
    return frozenset().union(*(_names(text)[1] for text in texts))


@lru_cache(maxsize=4096)
def _names(text: str) -> tuple[frozenset[str], frozenset[str]]:
    top = symtable.symtable(text, "script", "exec")
    tables = [top]
    for table in tables:
        tables += table.get_children()
    bound = {one.get_name() for one in top.get_symbols() if one.is_assigned() or one.is_imported()}
    used = {
        one.get_name()
        for table in tables
        for one in table.get_symbols()
        if one.is_referenced() and (table is top or one.is_global())
    }
    return frozenset(bound), frozenset(used)
