"""Finds faults between the files of a project: what one uses and another no longer has."""

import re
from collections.abc import Collection, Iterator, Mapping

from scaffold.merge.checks.imports import NO_FIELD, faults_across_files, names_of_modules
from scaffold.merge.conflicts import Conflict
from scaffold.merge.diff.assemble import Clash, assemble
from scaffold.merge.guards.broken_names import doubt, verify
from scaffold.merge.model import OpenFile, mended_text, open_file
from scaffold.merge.normalize.order import chunks
from scaffold.merge.semantics.flow import read_in
from scaffold.merge.semantics.names import Fault, module_of
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
    what they lose: a file, function or class stays if a file of the owner's own uses it. Returns
    notes of what stays.
    """
    stay: list[str] = []
    kept: dict[tuple[str, str], list[str]] = {}  # definitions, by their file and who uses them
    names, ours = project.names, project.ours
    own = {path for path in ours if path not in names}
    doubted = set()
    count = -1
    while count < len(own):  # a file that stays may need more
        count = len(own)
        open_files = {file.path: file for file in files}
        for path, fault in _find_faults(merged, conflicts, files, project):
            had = fault.kind == NO_FIELD and fault.name in ours.get(fault.source, "")
            at = path if path in names and not had else fault.source  # who has it, or who lost it
            at = fault.source if path in own else at
            if at not in open_files and at in names and at in ours:
                open_files[at] = _reopen(at, project)
                files.append(open_files[at])
            if at not in open_files:
                continue
            if path in own and names.get(at) not in project.theirs:
                _keep_file(open_files[at])
                own.add(at)
                stay.append(f"{at} stays, because {path} uses it.")
            elif path in own and _keep_definition(open_files[at], fault.name):
                kept.setdefault((at, path), []).append(fault.name)
            else:
                doubt(open_files[at], fault)
                doubted.add(at)
    for path in sorted(doubted):
        verify(open_files[path])
    return stay + [
        f"{at} keeps {', '.join(found)}, because {path} uses {'them' if found[1:] else 'it'}."
        for (at, path), found in kept.items()
    ]


def _find_faults(
    merged: Mapping[str, str | None],
    conflicts: Collection[Conflict],
    files: Collection[OpenFile],
    project: Versions,
) -> Iterator[tuple[str, Fault]]:
    """What files without a conflict use of others and would no longer find, by their paths."""
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
        return  # none of it is the owner's
    known = names_of_modules((*together, *ours, *rendered))
    now = faults_across_files(together, known)
    own, new = (
        faults_across_files(side, known) if any(now.values()) else {} for side in (ours, rendered)
    )
    for path, faults in now.items():
        for fault in sorted(faults - own.get(path, set()) - new.get(path, set()), key=str):
            if not clashing & {path, fault.source}:
                yield path, fault


def _keep_file(file: OpenFile) -> None:
    """Keep a file that is no longer generated, as the owner has it."""
    own, assembly = file.assembly.ours.units, file.assembly
    file.assembly = assemble((own, own, own), file.kind, assembly.indent, assembly.union)
    file.doubts.clear()


def _keep_definition(file: OpenFile, name: str) -> bool:
    """Keep a function or class that the new file no longer has, if the owner's file has it.

    What it needs of this file stays, too.
    """
    assembly = file.assembly
    left = {head for head, _ in chunks(assembly.theirs.units)}
    gone = [part for part in chunks(assembly.ours.units) if part[0] not in left]
    wanted: set[str] = set()
    names = {name}
    while heads := {head for head, _ in gone if names & {*head.split()[1:]}} - wanted:
        wanted |= heads
        names = read_in(unit for head, chunk in gone if head in heads for unit in chunk)
    if not wanted:
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
