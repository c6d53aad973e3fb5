"""What stays of a file that is no longer generated: what its owner added to it, or changed."""

import ast
import copy
from collections.abc import Collection, Sequence

from scaffold.merge.model import OpenFile, kind_of
from scaffold.merge.normalize.order import Part, chunks
from scaffold.merge.semantics.effects import only_adds
from scaffold.merge.semantics.imports import mended
from scaffold.merge.semantics.names import UNDEFINED, find_faults
from scaffold.merge.source import style
from scaffold.merge.source.imports import imports_of
from scaffold.merge.source.parse import is_python, nodes_of, tree_of
from scaffold.merge.source.statement import PYTHON, split, write_units

_DEFINITIONS = ("FunctionDef ", "ClassDef ")


def find_added(text: str, base: str) -> str:
    """The definitions that an owner added to a file, if they changed none, and need none of it."""
    known, own = (list(chunks(split(side, PYTHON))) for side in (base, text))
    kept = [part for part in known if not part[0].startswith("Import")]
    new = [part for part in own if part not in kept]
    has_all = all(part in own for part in kept)
    if not has_all or not any(name.startswith(_DEFINITIONS) for name, _ in new):
        return ""
    found = mended(write_units([unit for _, chunk in new for unit in chunk]), "", ())
    return "" if any(row.kind == UNDEFINED for row in find_faults(found)) else found.lstrip("\n")


def find_edited(text: str, base: str) -> tuple[str, str] | None:
    """What an owner changed in a file of tests, with what it needs, and that as it was."""
    known, own = (list(chunks(split(side, PYTHON))) for side in (base, text))
    parts = [part for part, _ in own if part.startswith(("bind ", *_DEFINITIONS))]
    named = {part for part in parts if part.split()[1].isidentifier()}
    kept = {part for part, _ in own} - named  # imports, and what sets something up
    changed = {part for part, chunk in own if (part, chunk) not in known}
    more = edited = {part for part in changed if not part.startswith("Import")}
    while more:
        kept |= more
        code = mended(_written(own, kept), "", ())
        needed = {row.name for row in find_faults(code) if row.kind == UNDEFINED}
        needed |= {node.arg for node in nodes_of(tree_of(code)) if isinstance(node, ast.arg)}
        more = {part for part in named - kept if needed.intersection(part.split()[1:])}
    return (code.lstrip("\n"), _written(known, edited).lstrip("\n")) if edited else None


def _written(parts: Sequence[Part], names: Collection[str]) -> str:
    return write_units([unit for part, chunk in parts if part in names for unit in chunk])


def only_adds_to_lists(text: str, base: str) -> bool:
    """Whether an owner only put more into the lists and dicts of a file."""
    sides = [split(side, PYTHON) for side in (base, text)]
    return len(sides[0]) == len(sides[1]) and all(
        (one.same, one.depth) == (two.same, two.depth) or only_adds(one, two)
        for one, two in zip(*sides, strict=True)
    )


def only_explains(text: str, base: str) -> bool:
    """Whether an owner only changed comments, docstrings and type hints of a file."""
    return is_python(text) and _plain(text) == _plain(base)


def _plain(text: str) -> str:
    """A file without imports, comments, docstrings and the type hints of functions."""
    tree = copy.deepcopy(tree_of(text))
    for node in nodes_of(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docs = node.body[:1] if ast.get_docstring(node) is not None else []
            node.body = [
                row
                for row in node.body
                if row not in docs and not isinstance(row, ast.Import | ast.ImportFrom)
            ]
    return ast.dump(tree)


def says_same(path: str, own: str, base: str, files: Sequence[OpenFile]) -> bool:
    """Whether the owner only laid out a file in another way, imported what it needs from elsewhere,
    or renamed what other files rename."""
    if kind_of(path) != PYTHON:
        return False
    pairs = {pair for file in files for pair in file.renames.everywhere.items()}
    sides = [[row for row in split(side, PYTHON) if not imports_of(row)] for side in (base, own)]
    return len(sides[0]) == len(sides[1]) and all(
        one.depth == two.depth and style.says_same(one, two, pairs)
        for one, two in zip(*sides, strict=True)
    )
