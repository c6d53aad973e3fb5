"""Finds names that a merge leaves undefined, unused or defined twice.

Each side is right by itself. A merged file is compared with both: what pyflakes, or a check across
files, finds in the merged file and in neither side is a fault of the merge. Imports are repaired;
everything else becomes a conflict.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePosixPath

from scaffold.merge.source.parse import fields_in, parse


@dataclass(frozen=True)
class Fault:
    """A problem with a name. Its line does not matter for equality."""

    kind: str
    name: str
    source: str = ""  # the file that should define it
    line: int = field(default=0, compare=False)  # of the first one that pyflakes finds

    def __str__(self) -> str:
        return self.kind.format(name=self.name)


UNREADABLE = "it would not be valid Python"
UNDEFINED = "{name} would be undefined"
UNUSED_IMPORT = "the import of {name} would be unused"
REPEATED_IMPORT = "{name} would be imported twice"
UNUSED_VARIABLE = "the variable {name} would be unused"
_WORDS = {  # for what pyflakes finds
    "RedefinedWhileUnused": "{name} would be defined twice",
    "UndefinedName": UNDEFINED,
    "UnusedImport": UNUSED_IMPORT,
    "UnusedVariable": UNUSED_VARIABLE,
}


@lru_cache(maxsize=64)
def find_faults(text: str) -> Counter[Fault]:
    """The faults of one Python file."""
    from pyflakes.checker import Checker

    try:
        tree = parse(text)
    except SyntaxError:
        return Counter({Fault(UNREADABLE, ""): 1})
    found: Counter[Fault] = Counter()
    for message in sorted(Checker(tree).messages, key=lambda message: message.lineno):
        kind = type(message).__name__
        first = message.message_args[0] if message.message_args else ""
        name = str(getattr(first, "name", first))
        words = _WORDS.get(kind, f"{kind}: {{name}}")
        if kind == "RedefinedWhileUnused" and _is_imported_twice(tree, name):
            words = REPEATED_IMPORT
        found[Fault(words, name, line=message.lineno)] += 1
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
            names = Counter(name for name, _ in fields_in(node))
            yield from (name for name, count in names.items() if count > 1)


def module_of(name: str) -> str:
    """The dotted name of a Python file."""
    return ".".join(PurePosixPath(name).with_suffix("").parts)


def is_test(path: str) -> bool:
    return PurePosixPath(path).name.startswith("test_") or "tests/" in path


def defines(text: str, name: str) -> bool:
    """Whether the text of a module has a definition of this name at its top level."""
    word = re.escape(name)
    return bool(re.search(rf"(?m)^(?:(?:async )?def|class) {word}\b|^{word}\s*[:=]", text))
