"""Follows an owner who put the content of a generated file into another one and deleted it.

In base and theirs, its definitions go to where the owner has them, and what imports them finds them
there. So an update changes them where they are, and brings new ones beside them.
"""

import ast
import re
from dataclasses import dataclass, replace

from scaffold.merge.normalize.order import chunks
from scaffold.merge.semantics.flow import read_in
from scaffold.merge.semantics.imports import mended, replace_rows
from scaffold.merge.semantics.names import defines, is_test, module_of
from scaffold.merge.source.imports import imports_in, modules_in
from scaffold.merge.source.parse import nodes_of, tree_of
from scaffold.merge.source.statement import PYTHON, Statement, split, write_units
from scaffold.merge.source.versions import Files, Versions

Chunks = dict[str, list[Statement]]


@dataclass(frozen=True)
class Absorbed:
    """A deleted file, and the file that has its definitions now."""

    name: str
    into: str  # a path
    definitions: frozenset[str]


def follow_absorbed(project: Versions) -> Versions:
    """The project, in which base and theirs lack the files that the owner put into others."""
    base, theirs = dict(project.base), dict(project.theirs)
    for name in sorted(base.keys() & theirs.keys()):
        if project.place(name) in project.ours or not name.endswith(".py") or is_test(name):
            continue
        absorbed = _find(name, project)
        was = _definitions(base[name])
        if absorbed and _concerns(name, base, theirs) and _can_import(absorbed, was, project):
            base, theirs = (_moved(absorbed, was, side, project) for side in (base, theirs))
    return replace(project, base=base, theirs=theirs)


def _concerns(name: str, base: Files, theirs: Files) -> bool:
    """Whether an update changes a file, or code that imports from it."""
    imported = f"from {module_of(name)} import "
    return base[name] != theirs[name] or any(
        imported in text for path, text in theirs.items() if text != base.get(path)
    )


def _find(name: str, project: Versions) -> Absorbed | None:
    names = _definitions(project.base[name]).keys()
    known = {
        project.place(other): _definitions(text).keys() for other, text in project.base.items()
    }
    found = {
        path: frozenset((names & _definitions(text).keys()) - known.get(path, set()))
        for path, text in project.ours.items()
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


def _values(text: str, went: Chunks, own: str) -> Chunks:
    """The constants of a file that its definitions read, and their new file lacks."""
    read = read_in(unit for chunk in went.values() for unit in chunk)
    rows = chunks(split(text, PYTHON))
    found = {name: chunk for name, chunk in rows if name.startswith("bind ")}
    return {
        name: chunk
        for name, chunk in found.items()
        if (word := name.split()[1]) in read and not defines(own, word)
    }


def _can_import(absorbed: Absorbed, was: Chunks, project: Versions) -> bool:
    """Whether code that imports the whole module finds all its definitions in the new place."""
    is_whole = any(
        not row.name and row.is_from(absorbed.name)
        for path, text in project.theirs.items()
        if path.endswith(".py")
        for row in imports_in(text)
    )
    has_all = was.keys() <= absorbed.definitions
    return not is_whole or (has_all and not _module_in(absorbed, project.ours).startswith("."))


def _moved(absorbed: Absorbed, was: Chunks, side: Files, project: Versions) -> dict[str, str]:
    """One generated version with the definitions in the other file. `was` are those of base."""
    files, ours = dict(side), project.ours
    text = files.pop(absorbed.name)
    names = {project.place(name): name for name in files}
    target = names.get(absorbed.into, absorbed.into)
    here = _definitions(text)
    went = {name: here.get(name, was[name]) for name in sorted(absorbed.definitions)}
    went |= {name: chunk for name, chunk in here.items() if name not in was}
    went = _values(text, went, ours[absorbed.into]) | went
    files[target] = files.get(target, ours[absorbed.into])
    module, old = _module_in(absorbed, ours), module_of(absorbed.name)
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


def _module_in(absorbed: Absorbed, ours: Files) -> str:
    """The module of the new place, as the owner's code imports it."""
    code = {path: text for path, text in ours.items() if path.endswith(".py")}
    found = (module for _, module in modules_in(code, absorbed.into))
    return next(found, module_of(absorbed.into))


def _import_from(text: str, old: str, new: str) -> str:
    """The text with the imports of one module from another one, or without them."""
    if new:
        text = re.sub(rf"(?m)^([ \t]*)import {old}$", rf"\1import {new} as {old}", text)
    if not re.search(rf"\bfrom {re.escape(old)} import\b", text):
        return text
    nodes = [node for node in nodes_of(tree_of(text)) if isinstance(node, ast.ImportFrom)]
    for node in sorted(nodes, key=lambda node: -node.lineno):
        if node.module == old and not node.level:
            first = text.split("\n")[node.lineno - 1]
            written = first.replace(f"from {old} import", f"from {new} import", 1)
            rest = text.split("\n")[node.lineno : node.end_lineno]
            lines = "\n".join([written, *rest]) if new else None
            text = replace_rows(text.split("\n"), node, lines, comment=False)
    return text
