"""Follows definitions into other files: into those of their owner, and those of an update.

A file of the owner's gets a pristine and a new version too: the owner's, with the generated
definitions in it as they were and as they are now. What it imports follows from what its code
needs.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from scaffold.merge.model import OpenFile, open_file
from scaffold.merge.normalize.extracted.follow import follow_extracted
from scaffold.merge.normalize.order import chunks
from scaffold.merge.semantics.imports import import_elsewhere, mended
from scaffold.merge.semantics.names import UNDEFINED, defines, find_faults, is_test, module_of
from scaffold.merge.source import style
from scaffold.merge.source.imports import imports_in, module_in, modules_in, uses_module
from scaffold.merge.source.statement import PYTHON, Statement, Statements, split, write_units
from scaffold.merge.source.versions import Files, Versions

Chunks = dict[str, list[Statement]]


def follow_moved_names(project: Versions) -> Versions:
    """The project, in which base and theirs import what the owner moved from where it is now."""
    code = {path: text for path, text in project.ours.items() if path.endswith(".py")}
    moved = [
        (path, name, places[0])
        for path in sorted(code.keys() & project.names.keys())
        for name in _gone(project.base.get(project.names[path], ""), code[path])
        if len(places := [other for other in code if _came(name, other, project)]) == 1
    ]
    if not moved:
        return project
    base, theirs = (
        {name: _import_moved(project.place(name), text, moved, code) for name, text in side.items()}
        for side in (project.base, project.theirs)
    )
    return replace(project, base=base, theirs=theirs)


def _gone(base: str, own: str) -> list[str]:
    """The functions and classes that the owner's version of a module no longer has."""
    known = {row.called for row in imports_in(own)} if base != own else set()
    names = re.findall(r"(?m)^(?:def|class) (\w+)", base) if base != own else []
    return [name for name in names if name not in known and not defines(own, name)]


def _came(name: str, path: str, project: Versions) -> bool:
    """Whether the owner's version of a file has a definition that the generated one has not."""
    was = project.base.get(project.names.get(path, ""), "")
    return not is_test(path) and defines(project.ours[path], name) and not defines(was, name)


def _import_moved(at: str, text: str, moved: Sequence[tuple[str, str, str]], code: Files) -> str:
    """The generated file at a path, which imports what was moved from where it is now."""
    for path, name, place in moved if at.endswith(".py") else ():
        rows = [row for row in imports_in(text) if row.is_from(path)]
        if at != place and any(row.name == name == row.called for row in rows):
            modules = [
                module
                for other, module in modules_in(code, place)
                if not module.startswith(".") or _folder(other) == _folder(at)
            ]
            text = import_elsewhere(text, name, [*modules, module_of(place)][0])
    return text


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def follow_definitions(files: Sequence[OpenFile], project: Versions) -> list[OpenFile]:
    """The files, and those of the owner's into which definitions of theirs went."""
    own = {path: text for path, text in project.own_code.items() if not path.startswith("tests/")}
    targets: dict[str, OpenFile] = {}
    for file in files:
        if file.kind != PYTHON:
            continue
        for path, text in own.items():
            if uses_module(file.texts[1], path):
                target = targets.get(path) or open_file(path, path, text, text, text)
                if _follow(file, target):
                    targets[path] = target
    return [*files, *(file for file in targets.values() if file.texts[0] != file.texts[2])]


def _follow(file: OpenFile, target: OpenFile) -> bool:
    """Move definitions from the pristine and the new version of a file to those of another."""
    base, own, new = (split(text, PYTHON) for text in file.texts)
    held = split(target.texts[1], PYTHON)
    there = {name: chunk for name, chunk in chunks(held) if _is_definition(name)}
    here = {name for name, _ in chunks(own)}
    if not there.keys() - here:
        return False
    joined = [*own, *(unit for name, chunk in there.items() for unit in chunk)]
    followed = follow_extracted(base, joined, new, style.find_indent(file.texts[1]))
    base, new = followed or (base, new)
    known = [dict(chunks(units)) for units in (base, new)]
    moved = (there.keys() - here) & known[0].keys()
    if not moved:
        return False
    sides = []
    for units, found in zip((base, new), known, strict=True):
        went = {name: found[name] for name in moved & found.keys()}
        if units is new:
            went |= _needed_there(went, found, known[0], here)
        sides.append((went, [unit for name, c in chunks(units) if name not in went for unit in c]))
    texts = [
        _filled(split(text, PYTHON), went, moved)
        for text, (went, _) in zip((target.texts[0], target.texts[2]), sides, strict=True)
    ]
    before, after = (write_units(rest) for _, rest in sides)
    brought = [name.split()[-1] for name in sides[1][0] if name not in moved]
    sources = (file.texts[1], file.texts[2], _import_of(file.texts[1], target.path, brought))
    target.texts = (
        mended(texts[0], target.texts[1], (target.texts[1], file.texts[0])),
        target.texts[1],
        mended(texts[1], target.texts[1], (target.texts[1], file.texts[2])),
    )
    file.texts = (
        mended(before, file.texts[0], sources),
        file.texts[1],
        mended(after, file.texts[2], sources),
    )
    return True


def fill_new_files(files: Sequence[OpenFile], project: Versions) -> dict[str, str]:
    """The new files into which an update moves what the owner edited, with these edits, by path.

    In the files that had them, base and ours lose them.
    """
    new = {
        project.place(name): text
        for name, text in project.theirs.items()
        if name.endswith(".py") and name not in project.base and not is_test(name)
    }
    new = {path: text for path, text in new.items() if path not in project.ours}
    for file in files if new else ():
        if file.kind != PYTHON:
            continue
        base, own, left = (dict(chunks(split(text, PYTHON))) for text in file.texts)
        gone = {name for name in base.keys() & own.keys() - left.keys() if _is_definition(name)}
        edited = {name for name in gone if not _say_same(base[name], own[name])}
        for path, text in new.items() if edited else ():
            there = [*chunks(split(text, PYTHON))]
            moved = {name for name, part in there if name in edited and _say_same(part, base[name])}
            parts = [own[name] if name in moved else part for name, part in there]
            units = [unit for part in parts for unit in part]
            filled = mended(write_units(units), text, (file.texts[1],))
            if moved and not any(row.kind == UNDEFINED for row in find_faults(filled)):
                new[path] = filled
                rest = [_without(side, moved) for side in file.texts[:2]]
                file.texts = (rest[0], rest[1], file.texts[2])
    return {path: text for path, text in new.items() if text != project.rendered[path]}


def _say_same(one: Statements, two: Statements) -> bool:
    return [(unit.key, unit.depth) for unit in one] == [(unit.key, unit.depth) for unit in two]


def _without(text: str, names: Collection[str]) -> str:
    """A file without some definitions, and what only these import."""
    rest = [
        unit for name, part in chunks(split(text, PYTHON)) if name not in names for unit in part
    ]
    return mended(write_units(rest), text, ())


def _import_of(text: str, path: str, names: Sequence[str]) -> str:
    """An import of names from a file, as another file imports it."""
    module = module_in(text, path) if names else ""
    return f"from {module} import {', '.join(names)}\n" if module else ""


def _is_definition(name: str) -> bool:
    return name.startswith(("FunctionDef ", "AsyncFunctionDef ", "ClassDef ", "bind "))


def _needed_there(
    went: Chunks, new: Chunks, base: Collection[str], here: Collection[str]
) -> Chunks:
    """The new definitions that those need which the owner moved."""
    found: Chunks = {}
    for name, chunk in new.items():
        if name in base or name in here or not _is_definition(name):
            continue
        word = re.compile(rf"\b{re.escape(name.split()[-1])}\b")
        users = {
            other
            for other, units in new.items()
            if other != name and any(word.search(u.text) for u in units if not u.is_comment)
        }
        if users & {*went, *found}:
            found[name] = chunk
    return found


def _filled(skeleton: Statements, went: Chunks, moved: Collection[str]) -> str:
    """A file of the owner's with definitions as they were generated."""
    more = [name for name in went if name not in moved]
    out: list[Statement] = []
    for name, chunk in chunks(skeleton):
        if name not in moved:
            out += chunk
        elif name in went:
            again = [other for other in more if other.split()[-1] == name.split()[-1]]
            for other in [n for n in more if n not in again and _uses(went[name], n)]:
                out += went[other]
                more.remove(other)
            first, *rest = went[name]
            out += [replace(first, blanks=chunk[0].blanks), *rest]
            for other in again:  # `evaluate = wrapped(evaluate)`
                out += went[other]
                more.remove(other)
    return write_units(out)


def _uses(chunk: Statements, name: str) -> bool:
    return any(re.search(rf"\b{re.escape(name.split()[-1])}\b", unit.text) for unit in chunk)
