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
