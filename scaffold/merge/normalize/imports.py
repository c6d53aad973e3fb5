"""Follows an owner who imports the same things in another way.

`import callbacks` and `callbacks.BestModel` in place of `from callbacks import BestModel`, or
`from metrics import log as say`: the pristine and the new file then call them the same.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace

from scaffold.merge.source.imports import Import, Node, import_node, imports_of
from scaffold.merge.source.statement import Rendered, Statement, Statements, fingerprint
from scaffold.merge.source.style import Renames, rename_units, words


def follow_imports(base: Statements, ours: Statements, theirs: Statements) -> Rendered:
    """The pristine and the new file with the owner's way to import."""
    base = _with_stars(_with_shared(base, ours, theirs), ours, theirs)
    own = list(_imported(ours))
    old = [row for row, _ in _imported(base) if row.name and row.is_plain]
    kept = {(row.module, row.name): row for row, _ in own if row.name}
    used = {word.name for unit in ours for word in words(unit)}
    modules = {row.module: (row, text) for row, text in own if not row.name}
    known = {row.module for row, _ in _imported(base) if not row.name}
    # the owner's imports of their modules. New names come by themselves: tests replace them there
    follow: dict[tuple[str, str], tuple[Import, str]] = {}
    renamed: dict[tuple[str, str], Import] = {}
    for row in old:
        there = kept.get((row.module, row.name))
        module = modules.get(row.module)
        if there and there.called != row.name and there.called in used:
            renamed[row.module, row.name] = there
        elif there is None and module and row.module not in known and f".{row.name}" in used:
            follow[row.module, row.name] = module
    if not renamed and not follow:
        return list(base), list(theirs)
    return _put_on(base, follow, renamed), _put_on(theirs, follow, renamed)


def _with_shared(base: Statements, ours: Statements, theirs: Statements) -> Statements:
    """The pristine file with the names that both sides newly import from one module."""
    out, known = list(base), set(map(_module, base))
    own = {_module(unit): imports_of(unit) for unit in ours}
    for number, unit in enumerate(theirs):
        if (module := _module(unit)) and module not in known:
            names = sorted(
                imports_of(unit) & own.get(module, frozenset()), key=lambda row: row.name
            )
            if names and names[0].name != "*":
                parts = [ast.alias(row.name, None if row.is_plain else row.called) for row in names]
                text = ast.unparse(ast.ImportFrom(module[1], parts, module[0]))
                above = {row.key for row in theirs[:number]}
                place = max(
                    (n for n, row in enumerate(out, start=1) if row.key in above), default=0
                )
                out.insert(place, replace(unit, lines=(text,), key=fingerprint(text), comment=""))
    return out


def _module(unit: Statement) -> tuple[int, str | None] | None:
    """The module from which a statement at the top imports names."""
    node = _import(unit)
    return (node.level, node.module) if isinstance(node, ast.ImportFrom) else None


def _with_stars(base: Statements, ours: Statements, theirs: Statements) -> Statements:
    """The pristine file with the owner's `import *` of modules that the new one does not need."""
    needed = {row.module for row, _ in _imported(theirs)}
    stars = {row.module: text for row, text in _imported(ours) if row.name == "*"}
    out = []
    for unit in base:
        node = _import(unit)
        module = (node.module or "") if isinstance(node, ast.ImportFrom) else ""
        if module in stars.keys() - needed:
            text = stars[module]
            unit = replace(unit, lines=(text,), key=fingerprint(text), comment="")
        out.append(unit)
    return out


def _imported(units: Statements) -> Iterator[tuple[Import, str]]:
    """What a file imports at its top, with the statement; a name may be a module, too."""
    for unit in units:
        for row in sorted(imports_of(unit), key=lambda row: row.name) if not unit.depth else ():
            if row.level or not row.module:
                continue
            yield row, unit.text
            if row.name:
                yield Import(f"{row.module}.{row.name}", "", row.called), unit.text


def _import(unit: Statement) -> Node | None:
    return None if unit.depth else import_node(unit)


def _put_on(
    units: Statements,
    follow: Mapping[tuple[str, str], tuple[Import, str]],
    renamed: Mapping[tuple[str, str], Import],
) -> list[Statement]:
    table: dict[str, str] = {}
    out: list[Statement] = []
    for unit in units:
        node = _import(unit)
        if not isinstance(node, ast.ImportFrom) or node.level:
            out.append(unit)
            continue
        names = []
        for alias in node.names:
            key = node.module or "", alias.name
            there, module = renamed.get(key), follow.get(key)
            if there and not alias.asname:
                table[alias.name] = there.called
                names.append(ast.alias(alias.name, there.called))
            elif module and not alias.asname:
                table[alias.name] = f"{module[0].called}.{alias.name}"
            else:
                names.append(alias)
        if [row.asname for row in names] == [row.asname for row in node.names]:
            out.append(unit)
            continue
        if names:
            text = ast.unparse(ast.ImportFrom(node.module, names, 0))
            line = f"{text}  {unit.comment}" if unit.comment else text
            out.append(replace(unit, lines=(line,), key=fingerprint(text)))
        if len(names) < len(node.names):
            text = next(text for row, text in follow.values() if row.module == node.module)
            blanks = 0 if names else unit.blanks
            out.append(
                replace(unit, lines=(text,), key=fingerprint(text), comment="", blanks=blanks)
            )
    others = [unit for unit in out if _import(unit) is None]
    changed = iter(rename_units(others, Renames(everywhere=table)))
    return [unit if _import(unit) else next(changed) for unit in out]
