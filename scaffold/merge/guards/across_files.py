"""Finds faults between the files of a project: what one uses and another no longer has."""

import re
from collections.abc import Collection, Mapping

from scaffold.merge.checks.imports import NO_FIELD, faults_across_files, names_of_modules
from scaffold.merge.conflicts import Conflict
from scaffold.merge.diff.assemble import Clash, assemble
from scaffold.merge.guards.broken_names import doubt, verify
from scaffold.merge.model import OpenFile, mended_text, open_file
from scaffold.merge.normalize.order import chunks
from scaffold.merge.semantics.names import module_of
from scaffold.merge.source.statement import PYTHON, split
from scaffold.merge.source.versions import Versions


def check_across_files(
    merged: Mapping[str, str | None],
    conflicts: Collection[Conflict],
    files: list[OpenFile],
    project: Versions,
) -> list[str]:
    """Doubt changes if a file uses something that another file no longer has.

    Unedited files are merged after all if the fault is theirs, or if the owner's own code needs
    what they lose: a function or class stays if a file of the owner's own uses it. Returns notes
    of what stays.
    """
    notes: list[str] = []
    result = {path: text for path, text in merged.items() if text is not None}
    clashing = {conflict.path for conflict in conflicts}
    for file in files:
        if file.kind == PYTHON:
            pieces = file.assembly.merge(file.doubts)
            result[file.path] = mended_text(file, pieces)
            if any(isinstance(piece, Clash) for piece in pieces):
                clashing.add(file.path)
    names, rendered = project.names, project.rendered
    # of all other code in the folder, which may be a lot, only what uses the project's modules
    places = {*names, *(file.path for file in files)}
    modules = "|".join(re.escape(module_of(path)) for path in places if path.endswith(".py"))
    uses = re.compile(rf"^[ \t]*(from|import) ({modules})\b", re.MULTILINE)
    ours = {path: text for path, text in project.ours.items() if path in names or uses.search(text)}
    others = {path: text for path, text in ours.items() if path not in merged}
    together = {**others, **result}
    if code_in(together) == code_in(rendered):
        return notes  # none of it is the owner's
    known = names_of_modules((*together, *ours, *rendered))
    now = faults_across_files(together, known)
    own, new = (
        faults_across_files(side, known) if any(now.values()) else {} for side in (ours, rendered)
    )
    open_files = {file.path: file for file in files}
    doubted = set()
    for path, faults in now.items():
        for fault in sorted(faults, key=str):
            if fault in own.get(path, ()) or fault in new.get(path, ()):
                continue
            had = fault.kind == NO_FIELD and fault.name in ours.get(fault.source, "")
            at = path if path in names and not had else fault.source  # who has it, or who lost it
            if clashing & {at, path, fault.source}:
                continue  # there is a conflict already
            if at not in open_files and at in names and at in ours:
                open_files[at] = _reopen(at, project)
                files.append(open_files[at])
            if at not in open_files:
                continue
            if path not in names and keep_definition(open_files[at], fault.name):
                notes.append(f"{at} keeps {fault.name}, because {path} uses it.")
            else:
                doubt(open_files[at], fault)
                doubted.add(at)
    for path in sorted(doubted):
        verify(open_files[path])
    return notes


def keep_definition(file: OpenFile, name: str) -> bool:
    """Keep a function or class that the new file no longer has, if the owner's file has it."""
    assembly = file.assembly
    wanted = {f"{kind} {name}" for kind in ("FunctionDef", "AsyncFunctionDef", "ClassDef")}
    if not wanted & {head for head, _ in chunks(assembly.ours.units)}:
        return False
    base = [unit for head, chunk in chunks(assembly.base) if head not in wanted for unit in chunk]
    sides = base, assembly.ours.units, assembly.theirs.units
    file.assembly = assemble(sides, file.kind, assembly.indent, assembly.union)
    file.doubts.clear()
    verify(file)
    return True


def code_in(files: Mapping[str, str | None]) -> dict[str, str]:
    """The Python files that are there."""
    return {path: text for path, text in files.items() if text is not None and path.endswith(".py")}


def _reopen(path: str, project: Versions) -> OpenFile:
    """A file that seemed to need no merge."""
    name = project.names[path]
    base, theirs = (side.get(name, "") for side in (project.base, project.theirs))
    file = open_file(name, path, base, project.ours[path], theirs)
    file.assembly = assemble([split(text, file.kind) for text in file.texts], file.kind)
    return file
