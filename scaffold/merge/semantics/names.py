"""Finds names that a merge leaves undefined, unused or defined twice.

Each side is right by itself. A merged file is compared with both: what pyflakes, or a check across
files, finds in the merged file and in neither side is a fault of the merge. Imports are repaired;
everything else becomes a conflict.
"""

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

from scaffold.merge.source.parse import parse


@dataclass(frozen=True)
class Fault:
    """A problem with a name. Its line does not matter for equality."""

    kind: str
    name: str
    source: str = ""  # the file that should define it

    def __str__(self) -> str:
        return self.kind.format(name=self.name)


UNREADABLE = "it would not be valid Python"
UNDEFINED = "{name} would be undefined"
UNUSED_IMPORT = "the import of {name} would be unused"
REPEATED_IMPORT = "{name} would be imported twice"
UNUSED_VARIABLE = "the variable {name} would be unused"


@lru_cache(maxsize=64)
def find_faults(text: str) -> Counter[Fault]:
    """The faults of one Python file."""
    from pyflakes.checker import Checker

    try:
        tree = parse(text)
    except SyntaxError:
        return Counter({Fault(UNREADABLE, ""): 1})
    found: Counter[Fault] = Counter()
    for message in Checker(tree).messages:
        kind = type(message).__name__
        first = message.message_args[0] if message.message_args else ""
        name = str(getattr(first, "name", first))
        if kind == "UndefinedName":
            found[Fault(UNDEFINED, name)] += 1
        elif kind == "UnusedImport":
            found[Fault(UNUSED_IMPORT, name)] += 1
        elif kind == "RedefinedWhileUnused" and _is_imported_twice(tree, name):
            found[Fault(REPEATED_IMPORT, name)] += 1
        else:
            words = {"RedefinedWhileUnused": "{name} would be defined twice"}
            words["UnusedVariable"] = UNUSED_VARIABLE
            found[Fault(words.get(kind, f"{kind}: {{name}}"), name)] += 1
    for repeated in _repeated_fields(tree):
        found[Fault("the field {name} would be defined twice", repeated)] += 1
    return found


def _is_imported_twice(tree: ast.Module, name: str) -> bool:
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = [alias.asname or alias.name for node in imports for alias in node.names]
    return names.count(name) > 1


def _repeated_fields(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            names = Counter(
                row.target.id
                for row in node.body
                if isinstance(row, ast.AnnAssign) and isinstance(row.target, ast.Name)
            )
            yield from (name for name, count in names.items() if count > 1)


# between files


def find_project_faults(files: Mapping[str, str]) -> dict[str, Counter[Fault]]:
    """What a file uses from other files of the project that does not exist there, by file."""
    facts = {
        name: found
        for name, text in files.items()
        if name.endswith(".py") and (found := _read_facts(text)) is not None
    }
    modules = {module_of(name): found for name, found in facts.items()}
    fields = modules["train"].fields if "train" in modules else frozenset()
    return {name: Counter(_faults_between(found, modules, fields)) for name, found in facts.items()}


@dataclass(frozen=True)
class _Facts:
    """What a file uses from others, and defines for them."""

    imports: tuple[tuple[str, tuple[str, ...]], ...]  # modules, and the names imported from each
    held: frozenset[str]
    fields: frozenset[str]  # of its Config
    read: frozenset[str]  # fields of `config`


@lru_cache(maxsize=64)
def _read_facts(text: str) -> _Facts | None:
    try:
        tree = parse(text)
    except SyntaxError:
        return None
    # looking at all nodes is slow: only if a function may import something
    nested = re.search(r"^[ \t]+(import|from)\b", text, re.MULTILINE)
    nodes = list(ast.walk(tree) if nested else _top_level(tree.body))
    imports: list[tuple[str, tuple[str, ...]]] = []
    for node in nodes:
        if isinstance(node, ast.Import):
            imports += [(alias.name, ()) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = tuple(alias.name for alias in node.names if alias.name != "*")
            imports.append((node.module, names))
    held = frozenset(name for node in _top_level(tree.body) for name in _bound(node))
    read = frozenset(re.findall(r"\bconfig\.([^\W\d]\w*)", text))
    return _Facts(tuple(imports), held, _config_fields(tree), read)


def _top_level(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, including those in its blocks but not in its definitions."""
    for node in body:
        yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for name in ("body", "orelse", "finalbody"):
            yield from _top_level(getattr(node, name, ()))
        for handler in getattr(node, "handlers", ()):
            yield from _top_level(handler.body)


def _bound(node: ast.stmt) -> Iterator[str]:
    """The names that a statement binds."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((alias.asname or alias.name).split(".")[0] for alias in node.names)
    else:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                yield inner.id


def _faults_between(
    facts: _Facts, modules: Mapping[str, _Facts], fields: Collection[str]
) -> Iterator[Fault]:
    for module, names in facts.imports:
        if module in modules:
            for name in names:
                if name not in modules[module].held:
                    source = module.replace(".", "/") + ".py"
                    yield Fault(f"{module} has no {{name}}", name, source)
        else:
            source = module.replace(".", "/") + ".py"
            yield Fault("the module {name} may be missing", module, source)
    if fields:
        for name in facts.read - set(fields):
            yield Fault("Config has no field {name}", name, "train.py")


def module_of(name: str) -> str:
    """The dotted name of a Python file."""
    return ".".join(PurePosixPath(name).with_suffix("").parts)


def is_test(path: str) -> bool:
    return PurePosixPath(path).name.startswith("test_") or "tests/" in path


def defines(text: str, name: str) -> bool:
    """Whether the text of a module has a definition of this name at its top level."""
    word = re.escape(name)
    return bool(re.search(rf"(?m)^(?:(?:async )?def|class) {word}\b|^{word}\s*[:=]", text))


def _config_fields(tree: ast.Module) -> frozenset[str]:
    return frozenset(
        row.target.id
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.name == "Config"
        for row in node.body
        if isinstance(row, ast.AnnAssign) and isinstance(row.target, ast.Name)
    )


# imports that can be repaired


def mend_imports(text: str, faults: Collection[Fault], sources: Collection[str]) -> str:
    """The text with imports added, removed and joined as its code needs them.

    `sources` are the versions that may contain the missing imports.
    """
    for fault in faults:
        if fault.kind == UNDEFINED:
            statement = _find_import(fault.name, sources)
            text = _add_import(text, *statement) if statement else text
        elif fault.kind in (UNUSED_IMPORT, REPEATED_IMPORT):
            text = _remove_import(text, fault.name, last=fault.kind == REPEATED_IMPORT)
    return text


def _imports(text: str) -> list[ast.Import | ast.ImportFrom]:
    try:
        body = parse(text).body
    except SyntaxError:
        return []
    return [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]


def comes_with_all(fault: Fault, own: str, new: str) -> bool:
    """Whether a name comes from a module of which the owner imports all names."""
    statement = _find_import(fault.name, (new,)) if fault.kind.startswith("ImportStar") else None
    if statement is None or statement[0] is None:
        return False
    return bool(re.search(rf"(?m)^from {re.escape(statement[0])} import \*", own))


def _find_import(name: str, sources: Collection[str]) -> tuple[str | None, str] | None:
    """The module and what is imported from it, as in one of the sources."""
    for source in sources:
        for node in _imports(source):
            for alias in node.names:
                if (alias.asname or alias.name).split(".")[0] == name:
                    words = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
                    module = node.module if isinstance(node, ast.ImportFrom) else None
                    return module, words
    return None


def _add_import(text: str, module: str | None, words: str) -> str:
    rows = text.split("\n")
    nodes = _imports(text)
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module == module and module is not None:
            names = [_alias(alias) for alias in node.names]
            return _replace(rows, node, _statement(module, sorted([*names, words], key=_order)))
    line = _statement(module, [words])
    top = (module or words).split(".")[0]
    near = [node for node in nodes if _top(node) == top] or nodes
    place = near[-1].end_lineno or 0 if near else 0
    return "\n".join([*rows[:place], line, *rows[place:]])


def _remove_import(text: str, name: str, last: bool) -> str:
    """The text without the first or last import of a name, as pyflakes has it: `x.y`, `x as y`."""
    rows = text.split("\n")
    nodes = _imports(text)
    for node in reversed(nodes) if last else nodes:
        module = f"{node.module}." if isinstance(node, ast.ImportFrom) and node.module else ""
        for alias in node.names:
            own = alias.asname or alias.name
            if name in (module + _alias(alias), own, _alias(alias)):
                names = [_alias(other) for other in node.names if other is not alias]
                if not names:
                    return _replace(rows, node, None)
                held = node.module if isinstance(node, ast.ImportFrom) else None
                return _replace(rows, node, _statement(held, names))
    return text


def _alias(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def _top(node: ast.Import | ast.ImportFrom) -> str:
    name = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
    return (name or "").split(".")[0]


def _order(name: str) -> tuple[int, str]:
    """Constants, classes, then the rest, as isort sorts them."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return kind, name.lower()


def _statement(module: str | None, names: list[str]) -> str:
    listed = ", ".join(names)
    if module is None:
        return f"import {listed}"
    text = f"from {module} import {listed}"
    if len(text) > 100:
        text = f"from {module} import (\n" + "".join(f"    {name},\n" for name in names) + ")"
    return text


def _replace(rows: list[str], node: ast.stmt, statement: str | None) -> str:
    lines = [] if statement is None else [statement]
    comment = re.search(r"\s+#.*$", rows[(node.end_lineno or 1) - 1])
    if lines and comment and "\n" not in lines[0]:
        lines[0] += comment[0]
    above, below = rows[: node.lineno - 1], rows[node.end_lineno or 0 :]
    if statement is None and below and not below[0].strip():
        while above and not above[-1].strip():
            above.pop()  # the blank lines below separate what remains
    return "\n".join([*above, *lines, *below])
