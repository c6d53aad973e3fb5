"""Follows an owner who put the content of a generated file into another one and deleted it.

In base and theirs, its definitions go to where the owner has them, and what imports them finds them
there. So an update changes them where they are, and brings new ones beside them.
"""

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from scaffold.merge.normalize.order import chunks
from scaffold.merge.semantics.imports import mended, replace_rows
from scaffold.merge.semantics.names import is_test, module_of
from scaffold.merge.source.parse import parse
from scaffold.merge.source.statement import PYTHON, Statement, split
from scaffold.merge.source.write import write_units

Files = dict[str, str]
Chunks = dict[str, list[Statement]]


@dataclass(frozen=True)
class Absorbed:
    """A deleted file, and the file that has its definitions now."""

    name: str
    into: str  # a path
    definitions: frozenset[str]


def follow_absorbed(
    base: Mapping[str, str],
    ours: Mapping[str, str],
    theirs: Mapping[str, str],
    place: Callable[[str], str],
) -> tuple[Files, Files]:
    """Base and theirs by name, without the files that the owner put into others.

    `place` tells the path of a generated file in the owner's project.
    """
    old, new = dict(base), dict(theirs)
    for name in sorted(base.keys() & theirs.keys()):
        if place(name) in ours or not name.endswith(".py") or is_test(name):
            continue
        absorbed = _find(name, base, ours, place)
        if absorbed and base[name] != theirs[name] and not _is_imported_whole(absorbed, new):
            old, new = (_moved(absorbed, base, side, ours, place) for side in (old, new))
    return old, new


def _find(
    name: str, base: Mapping[str, str], ours: Mapping[str, str], place: Callable[[str], str]
) -> Absorbed | None:
    names = _definitions(base[name]).keys()
    known = {place(other): _definitions(text).keys() for other, text in base.items()}
    found = {
        path: frozenset((names & _definitions(text).keys()) - known.get(path, set()))
        for path, text in ours.items()
        if path.endswith(".py") and not is_test(path)
    }
    into = max(found, key=lambda path: len(found[path]), default="")
    return Absorbed(name, into, found[into]) if into and found[into] else None


def _definitions(text: str) -> Chunks:
    """The functions and classes at the top of a file."""
    if not re.search(r"(?m)^(?:(?:async )?def|class) ", text):
        return {}
    kinds = ("FunctionDef ", "AsyncFunctionDef ", "ClassDef ")
    return {name: chunk for name, chunk in chunks(split(text, PYTHON)) if name.startswith(kinds)}


def _is_imported_whole(absorbed: Absorbed, files: Mapping[str, str]) -> bool:
    """Whether code calls the definitions by the name of their module."""
    module = re.escape(module_of(absorbed.name).rpartition(".")[2])
    pattern = re.compile(rf"(?m)^[ \t]*import .*\b{module}\b")
    return any(pattern.search(text) for path, text in files.items() if path.endswith(".py"))


def _moved(
    absorbed: Absorbed,
    base: Mapping[str, str],
    side: Mapping[str, str],
    ours: Mapping[str, str],
    place: Callable[[str], str],
) -> Files:
    """One generated version with the definitions in the other file."""
    files = dict(side)
    text = files.pop(absorbed.name)
    names = {place(name): name for name in files}
    target = names.get(absorbed.into, absorbed.into)
    here, was = _definitions(text), _definitions(base[absorbed.name])
    went = {name: here.get(name, was[name]) for name in sorted(absorbed.definitions)}
    went |= {name: chunk for name, chunk in here.items() if name not in was}
    files[target] = files.get(target, ours[absorbed.into])
    module = _module_in(absorbed, ours)
    old = module_of(absorbed.name)
    for name in files:
        if name.endswith(".py"):
            files[name] = _import_from(files[name], old, "" if name == target else module)
    known = [
        unit
        for name, chunk in chunks(split(files[target], PYTHON))
        if name not in went
        for unit in chunk
    ]
    rows = [unit for chunk in went.values() for unit in chunk]
    whole = write_units([*known, *rows])
    files[target] = mended(whole, ours[absorbed.into], (ours[absorbed.into], text))
    return files


def _module_in(absorbed: Absorbed, ours: Mapping[str, str]) -> str:
    """The module of the new place, as the owner's code imports it."""
    stem = re.escape(PurePosixPath(absorbed.into).stem)
    for path, text in ours.items():
        found = re.search(rf"(?m)^[ \t]*from ((?:[\w.]*\.)?{stem}) import\b", text)
        if found and path.endswith(".py"):
            return found[1]
    return module_of(absorbed.into)


def _import_from(text: str, old: str, new: str) -> str:
    """The text with the imports of one module from another one, or without them."""
    if not re.search(rf"\bfrom {re.escape(old)} import\b", text):
        return text
    try:
        nodes = [node for node in ast.walk(parse(text)) if isinstance(node, ast.ImportFrom)]
    except SyntaxError:
        return text
    for node in sorted(nodes, key=lambda node: -node.lineno):
        if node.module == old and not node.level:
            first = text.split("\n")[node.lineno - 1]
            written = first.replace(f"from {old} import", f"from {new} import", 1)
            rest = text.split("\n")[node.lineno : node.end_lineno]
            lines = "\n".join([written, *rest]) if new else None
            text = replace_rows(text.split("\n"), node, lines, comment=False)
    return text
