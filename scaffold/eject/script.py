"""The user's script, with what it imports from its folder, as one text. Nothing is executed."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from scaffold.check.source import Source
from scaffold.errors import ScaffoldError

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class Part:
    """A file of the text: the lines from `start` (0-based) are its lines."""

    start: int
    path: Path


class Text:
    """One text of several files, its tree, and where each line comes from."""

    def __init__(self, path: Path) -> None:
        self.path, self.folder = path, path.parent
        self._parts: list[Part] = []
        self._rows: list[str] = []
        self._read(path, {path}, is_main=True)
        self.text = "\n".join(self._rows) + "\n"
        self.source = Source("script.py", self.text)
        self.tree = self.source.tree
        self.rows = self.text.split("\n")

    def _read(self, path: Path, seen: set[Path], *, is_main: bool) -> None:
        source = read_source(path)
        rows = source.text.rstrip("\n").split("\n")
        for node in source.tree.body:
            gone = not is_main and (_is_main_block(node) or is_text(node))
            if isinstance(node, IMPORTS):
                modules = [found for found in self._local_modules(node, path) if found != path]
                gone = bool(modules) or _is_future(node)
                for module in modules:
                    if isinstance(node, ast.Import):
                        raise ScaffoldError(
                            f"{path}:{node.lineno}: `{ast.unparse(node)}` of a file in this folder "
                            "can't be followed: write `from ... import NAMES`."
                        )
                    if module not in seen:
                        seen.add(module)
                        self._read(module, seen, is_main=False)
            if gone:
                for number in range(node.lineno - 1, node.end_lineno or node.lineno):
                    rows[number] = ""
                if isinstance(node, ast.ImportFrom):
                    renamed = [a for a in node.names if a.asname and a.asname != a.name]
                    rows[node.lineno - 1] = "; ".join(f"{a.asname} = {a.name}" for a in renamed)
        self._parts.append(Part(len(self._rows), path))
        self._rows += rows

    def _local_modules(self, node: ast.Import | ast.ImportFrom, path: Path) -> list[Path]:
        """The files in the script's folder that a statement imports from."""
        names = [alias.name for alias in node.names]
        homes = [self.folder, path.parent]
        if isinstance(node, ast.ImportFrom):
            module = node.module or ""
            for _ in range(node.level):
                homes = [homes[-1] if node.level == 1 else homes[-1].parent]
            names = [module] if module else names
        found = []
        for name in names:
            for home in dict.fromkeys(homes):
                place = home.joinpath(*name.split("."))
                for file in (place.with_suffix(".py"), place / "__init__.py"):
                    inside = file.resolve().is_relative_to(self.folder.resolve())
                    if inside and file.is_file() and file not in found:
                        found.append(file)
        return found[:1] if isinstance(node, ast.ImportFrom) and node.module else found

    @cached_property
    def headline(self) -> str:
        """The comments at the top of the script, such as a licence, and its docstring."""
        start = self._parts[-1].start
        body = [node for node in self.tree.body if node.lineno > start]
        first = body[0].lineno - 1 if body else start
        if body and is_text(body[0]):
            comments = [row for row in self.rows[start : body[0].lineno] if row.startswith("#")]
            return "\n".join([*comments, ast.get_docstring(ast.Module(body[:1], [])) or ""])
        rows = []
        for row in self.rows[start:first]:
            if row and not row.startswith("#"):
                break
            rows.append(row)
        text = "\n".join(rows).strip()
        return "" if text.startswith("# cell") else text

    def place(self, node: ast.AST | int) -> str:
        """The file and line of a node, as people look for it."""
        line = node if isinstance(node, int) else int(getattr(node, "lineno", 1))
        part = next(part for part in reversed(self._parts) if part.start < line)
        number: int | str = line - part.start
        if part.path.suffix == ".ipynb":
            number = read_source(part.path).place(line - part.start)
        return f"{part.path.name}:{number}"

    def error(self, node: ast.AST, text: str) -> ScaffoldError:
        """An error with its file and line."""
        return ScaffoldError(f"{self.place(node)}: {text}")

    def is_global(self, node: ast.Name) -> bool:
        """Whether a name is that of the module, and not one of a function or class."""
        scope, top = self.source.scope(node), self.source.facts.top
        while scope.parent is not None and node.id not in scope.names:
            scope = scope.parent
        return scope is top

    def code(self, node: ast.AST) -> str:
        """The text of a node as it was written, without its indentation."""
        return ast.get_source_segment(self.text, node) or ast.unparse(node)


class Script(Text):
    """A script with what its names stand for."""

    @cached_property
    def definitions(self) -> dict[str, ast.stmt]:
        """What the module binds, by name, without imports: definitions, constants, blocks."""
        found: dict[str, ast.stmt] = {}
        for node in self.tree.body:
            if isinstance(node, DEFINITIONS):
                found[node.name] = node
            elif not isinstance(node, IMPORTS):
                found |= dict.fromkeys(bound_names(node), node)
        return found

    @cached_property
    def imports(self) -> dict[str, str]:
        """The statement that imports each name, also those in functions."""
        found: dict[str, str] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    text = f"import {alias.name}" + (f" as {alias.asname}" if alias.asname else "")
                    name = alias.asname or alias.name.partition(".")[0]
                    found[name] = f"{found[name]}\n{text}" if name in found else text
            elif isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    text = f"from {node.module} import {alias.name}"
                    text += f" as {alias.asname}" if alias.asname else ""
                    found[alias.asname or alias.name] = text
        return found

    def named(self, node: ast.expr | None) -> str:
        """What a name or attribute stands for, by its imports: `torch.optim.SGD`."""
        match node:
            case ast.Name(id=name):
                statement = self.imports.get(name, "").split("\n")[0]
                if found := re.match(r"from (\S+) import (\S+)", statement):
                    return f"{found[1]}.{found[2]}"
                if found := re.match(r"import (\S+) as", statement):
                    return found[1]
                return name
            case ast.Attribute(value=value, attr=attr):
                return f"{self.named(value)}.{attr}"
            case ast.Subscript(value=value):
                return self.named(value)
        return ""

    def classes(self) -> Iterator[ast.ClassDef]:
        for node in self.tree.body:
            if isinstance(node, ast.ClassDef):
                yield node

    def bases(self, node: ast.ClassDef) -> list[ast.ClassDef]:
        """A class of the script and those that it extends, the nearest first."""
        found = [node]
        for base in node.bases:
            other = self.definitions.get(base.id) if isinstance(base, ast.Name) else None
            if isinstance(other, ast.ClassDef):
                found += [part for part in self.bases(other) if part not in found]
        return found

    def extends(self, node: ast.ClassDef, *ends: str) -> bool:
        """Whether a class extends one of another package whose name ends like this."""
        return any(
            self.named(base).endswith(ends) for part in self.bases(node) for base in part.bases
        )


def read_source(path: Path) -> Source:
    """Raises ScaffoldError for what is not Python."""
    try:
        source = Source(str(path), path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise ScaffoldError(f"{path}: can't be read: {error}") from None
    except (SyntaxError, RecursionError) as error:
        line = getattr(error, "lineno", None) or 1
        raise ScaffoldError(f"{path}:{line}: not valid Python: {error}") from None
    return source


def methods(node: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    return {part.name: part for part in node.body if isinstance(part, ast.FunctionDef)}


def is_text(node: ast.stmt) -> bool:
    """Whether a statement is a docstring."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _is_main_block(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in (
        "__name__ == '__main__'",
        "'__main__' == __name__",
    )


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def bound_names(node: ast.AST) -> set[str]:
    """The names that a statement binds in its scope."""
    found: set[str] = set()
    if isinstance(node, DEFINITIONS):
        return {node.name}
    for part in _walk(node):
        if isinstance(part, DEFINITIONS):
            found.add(part.name)
        elif isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            found.add(part.id)
        elif isinstance(part, ast.alias):
            found.add(part.asname or part.name.partition(".")[0])
        elif isinstance(part, ast.ExceptHandler) and part.name:
            found.add(part.name)
    return found


def used_names(node: ast.AST) -> set[str]:
    """The names of outer scopes that a node reads. Those that it binds itself are left out."""
    found: set[str] = set()
    own: set[str] = set()
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [part for part in (arguments.vararg, arguments.kwarg) if part]
        own = {part.arg for part in every}
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        for part in body:
            own |= bound_names(part)
        outer: list[ast.AST] = [*arguments.defaults, *filter(None, arguments.kw_defaults)]
        outer += [part.annotation for part in every if part.annotation]
        if not isinstance(node, ast.Lambda):
            outer += node.decorator_list + ([node.returns] if node.returns else [])
        for part in body:
            found |= used_names(part)
        return {name for name in found if name not in own}.union(*map(used_names, outer))
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Load) else set()
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        own = set().union(*(bound_names(part.target) for part in node.generators))
    for child in ast.iter_child_nodes(node):
        found |= used_names(child)
    return found - own


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """A node and those in it, without those in functions, classes and comprehensions."""
    yield node
    inner = (*DEFINITIONS, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    for child in ast.iter_child_nodes(node):
        if isinstance(child, DEFINITIONS):
            yield child
        elif not isinstance(child, inner):
            yield from _walk(child)
