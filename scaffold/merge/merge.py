"""Merges an edited project with a new render of it, in memory.

Each file has three versions: as it was generated, as its owner edited it, and as it would be
generated now. `merge_files` merges all files; `diff/assemble.py` merges one.
"""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from scaffold.merge.checks.deleted import tell_deleted
from scaffold.merge.checks.left_out import tell_left_out
from scaffold.merge.checks.project import Wrong, checked_in, find_new_wrongs
from scaffold.merge.conflicts import (
    Conflict,
    find_conflicts,
    frame,
    line_among_markers,
    take_side,
)
from scaffold.merge.diff.assemble import Clash, Piece, assemble, choose_ours, write_pieces
from scaffold.merge.diff.triple import Hunk
from scaffold.merge.guards.across_files import check_across_files
from scaffold.merge.guards.broken_names import verify
from scaffold.merge.model import OpenFile, broken_line, kind_of, laid_out, mended_text, open_file
from scaffold.merge.normalize.absorbed_files import follow_absorbed
from scaffold.merge.normalize.config_forms import follow_settings
from scaffold.merge.normalize.dropped_files import (
    find_added,
    find_edited,
    only_adds_to_lists,
    only_explains,
    says_same,
)
from scaffold.merge.normalize.files import lay_out_like_others, normalize_files
from scaffold.merge.normalize.import_paths import follow_import_paths
from scaffold.merge.normalize.moved_definitions import (
    fill_new_files,
    follow_definitions,
    follow_moved_names,
)
from scaffold.merge.normalize.new_files import name_new_files
from scaffold.merge.normalize.notebooks import merge_notebook
from scaffold.merge.normalize.order import chunks
from scaffold.merge.normalize.renamed_fields import follow_fields
from scaffold.merge.semantics.imports import mended
from scaffold.merge.semantics.names import is_test, module_of
from scaffold.merge.source import style
from scaffold.merge.source.imports import imports_in
from scaffold.merge.source.notebooks import NOTEBOOK, read_notebook
from scaffold.merge.source.statement import PYTHON, TEXT, split, write_units
from scaffold.merge.source.versions import Files, Generated, Versions

_DEFINITIONS = ("FunctionDef ", "ClassDef ")

Label = Callable[[str, str], str]  # of a file and the lines that a conflict is about


@dataclass
class Merged:
    files: dict[str, str | None] = field(default_factory=dict)  # None: deleted
    conflicts: list[Conflict] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)  # what a person has to look at


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Without the search for garbage in the syntax trees, which are all in use."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@_without_collecting()
def merge_files(pristine: Generated, ours: Files, theirs: Files, label: str | Label) -> Merged:
    """The project after an update.

    `ours` are the owner's files by path, `theirs` the new render. `label` names the cause of a
    conflict. Texts are as in the files: newlines and byte order marks are kept.
    """
    given = Versions(pristine.files, ours, theirs, pristine.moved)
    project = follow_moved_names(follow_fields(follow_absorbed(follow_import_paths(given))))
    name_cause = label if callable(label) else lambda name, text: label
    merged = Merged()
    files, dropped, replaced = _sort(merged, project, given)
    notebooks = [file for file in files if _is_notebook(file)]
    files = [file for file in files if not _is_notebook(file)]
    merged.files |= fill_new_files(files, project)
    files = follow_settings(follow_definitions(files, project), project)
    after = {**ours, **merged.files, **{file.path: file.texts[2] for file in files}}
    after |= dict.fromkeys(file.path for file in dropped)
    _assemble_all(merged, files, ours, after)
    for file in dropped:
        _merge_dropped(merged, file, files, name_cause)
    merged.files |= name_new_files(merged.files, project)
    merged.files |= lay_out_like_others(replaced, files, ours)
    merged.notes += check_across_files(merged.files, merged.conflicts, files, project)
    for file in files:
        merged.files[file.path] = file.ending.put_on(_write(merged, file, name_cause))
    for file in notebooks:
        _write_notebook(merged, file, name_cause)
    merged.notes += tell_left_out(project, merged.files)
    merged.warnings += tell_deleted(project, merged.files)
    _warn(merged, project)
    merged.files = dict(sorted(merged.files.items()))
    merged.conflicts.sort(key=lambda conflict: (conflict.path, conflict.line))
    return merged


def _sort(
    merged: Merged, project: Versions, given: Versions
) -> tuple[list[OpenFile], list[OpenFile], list[OpenFile]]:
    """The files to merge, those that are no longer generated, and those that are replaced.

    All others need no merge. `given` is the project as it is on the disk.
    """
    to_merge: list[OpenFile] = []
    dropped: list[OpenFile] = []
    replaced: list[OpenFile] = []
    for name in sorted(project.base.keys() | project.theirs.keys()):
        path = project.place(name)
        base, own, new = project.base.get(name), project.ours.get(path), project.theirs.get(name)
        if own is not None and own == given.base.get(name) and new != base:
            own = base  # unedited, also where other imports would find the modules now
        if own is None:
            _merge_missing(merged, name, project)
            continue
        file = open_file(name, path, base or "", own, new or "")
        if new is None:
            dropped.append(file)
        elif own in (base, new) or file.texts[1] in (file.texts[0], file.texts[2]):
            merged.files[path] = file.ending.put_on(file.texts[2])
            replaced.append(file)
        elif file.texts[0] == file.texts[2]:
            merged.files[path] = own
        else:
            to_merge.append(file)
    return to_merge, dropped, replaced


def _warn(merged: Merged, project: Versions) -> None:
    """Note what is wrong now anywhere in the project, and was not before."""
    before, after = checked_in(project.ours), checked_in({**project.ours, **merged.files})
    rendered = checked_in(project.rendered)
    if after in (rendered, before):
        return
    clashing = {conflict.path for conflict in merged.conflicts}
    found: list[Wrong] | None = None
    for own in (True, False) if clashing else (True,):  # whichever side a conflict ends with
        resolved = {
            path: take_side(text, own) if path in clashing else text for path, text in after.items()
        }
        wrongs = find_new_wrongs(before, resolved, rendered)
        found = wrongs if found is None else [wrong for wrong in found if wrong in wrongs]
    merged.warnings += [
        str(_among_markers(row, after[row.path]) if row.path in clashing else row)
        for row in found or ()
    ]


def _among_markers(wrong: Wrong, text: str) -> Wrong:
    """With its line in the file as it is, not as it is with the owner's side of the conflicts."""
    if wrong.cell:
        return wrong
    return replace(wrong, line=line_among_markers(text, True, wrong.line))


def _merge_missing(merged: Merged, name: str, project: Versions) -> None:
    """A file that the owner does not have."""
    path, base, new = project.place(name), project.base.get(name), project.theirs.get(name)
    if base is None:
        crlf = bool(project.ours) and all("\r\n" in text for text in project.ours.values() if text)
        merged.files[path] = style.Ending(crlf=crlf).put_on(new or "")
    elif new is not None and new != base:
        brought = _new_definitions(name, base, project)
        if brought:
            merged.files[path] = brought
            merged.notes.append(f"{path} has only what is new in it: you deleted the rest.")
        else:
            merged.notes.append(f"{path} stays deleted, as you left it.")


def _new_definitions(name: str, base: str, project: Versions) -> str:
    """What an update adds to a file that the owner deleted, if other files need it."""
    new = project.theirs[name]
    if kind_of(name) != PYTHON or is_test(name):
        return ""
    known = {part for part, _ in chunks(split(base, PYTHON))}
    parts = [*chunks(split(new, PYTHON))]
    names = {part.split()[-1] for part, _ in parts if part.startswith(_DEFINITIONS)} - {
        part.split()[-1] for part in known
    }
    needed = any(
        row.is_from(project.place(name)) and row.name in names
        for path, text in project.theirs.items()
        if path.endswith(".py") and not is_test(path)
        for row in imports_in(text)
    )
    kept = [
        unit
        for part, chunk in parts
        if not (part.startswith(_DEFINITIONS) and part in known)
        for unit in chunk
    ]
    return mended(write_units(kept), "", ()) if needed else ""


def _merge_dropped(
    merged: Merged, file: OpenFile, files: Sequence[OpenFile], name_cause: Label
) -> None:
    """A file that is no longer generated."""
    base, text, _ = file.texts
    if file.path.endswith(NOTEBOOK) and text != base:
        merged.notes.append(f"{file.path} is no longer generated: your notebook stays.")
        return
    if text == base or says_same(file.path, text, base, files):
        merged.files[file.path] = None
        return
    if file.kind == PYTHON and only_adds_to_lists(text, base):
        merged.files[file.path] = None
        merged.notes.append(f"{file.path} is deleted, with what you added to its lists.")
        return
    if file.kind == PYTHON and only_explains(text, base):
        merged.files[file.path] = None
        merged.notes.append(f"{file.path} is deleted, with your type hints and comments.")
        return
    is_test = PurePosixPath(file.path).name.startswith("test_") and file.kind == PYTHON
    cause = name_cause(file.path, base)
    if is_test and (found := find_edited(text, base)):  # nothing imports the other tests
        text, base = found
        merged.notes.append(f"{file.path} has only what you changed in it: the rest is gone.")
        if not base:  # he only added to it
            merged.files[file.path] = file.ending.put_on(text)
            return
    elif added := find_added(text, base) if file.kind == PYTHON else "":
        merged.files[file.path] = file.ending.put_on(added)
        merged.notes.append(f"{file.path} has only what you added to it: the rest is gone.")
        return
    rows = frame(text.split("\n")[:-1], base.split("\n")[:-1], (), cause)
    merged.files[file.path] = file.ending.put_on("".join(f"{row}\n" for row in rows))
    merged.conflicts.append(Conflict(file.path, 1, cause))


def _assemble_all(
    merged: Merged, files: Sequence[OpenFile], ours: Files, after: Mapping[str, str | None]
) -> None:
    """Merge what both sides changed, file by file. `after` is the project after the update."""
    for file in files:
        if file.kind == PYTHON and (line := broken_line(file.texts[1])):
            merged.warnings.append(
                f"{file.path}:{line}: is not valid Python, so the file was merged line by line and "
                "not checked: review its changes. `scaffold undo` reverts the update."
            )
            file.kind = TEXT
    normalize_files(files, ours)
    for file in files:
        indent = style.find_indent(file.texts[1]) if file.kind == PYTHON else ""
        union = not file.path.endswith((".sh", ".py"))
        file.assembly = assemble(file.units, file.kind, indent, union)
    modules = {module_of(path): text for path, text in after.items() if path.endswith(".py")}
    for file in files:
        file.modules = modules
        verify(file)


def _write(merged: Merged, file: OpenFile, name_cause: Label) -> str:
    """The text of a merged file; its conflicts are in it, and noted."""
    pieces = file.assembly.merge(file.doubts)
    merged.notes += [
        f"{file.path}: {name} is gone, with what you added to it."
        for name in sorted(file.assembly.dropped)
    ]
    if not any(isinstance(piece, Clash) for piece in pieces):
        units = choose_ours(pieces)
        return laid_out(
            file, mended_text(file, pieces) if file.kind == PYTHON else write_units(units)
        )
    text, conflicts = _write_open(file, pieces, name_cause)
    merged.conflicts += [Conflict(file.path, line, cause) for line, cause in conflicts]
    return text


def _write_open(
    file: OpenFile, pieces: Sequence[Piece], name_cause: Label
) -> tuple[str, list[tuple[int, str]]]:
    """The text of a file with its conflicts, and the line and the cause of each."""

    def name(rows: str, hunk: Hunk) -> str:
        reasons = {
            reason
            for (start, end), reason in file.doubts.items()
            if reason and hunk[0] <= start and end <= hunk[1]
        }
        cause = name_cause(file.name, rows)
        return f"{cause} ({'; '.join(sorted(reasons))})" if reasons else cause

    return write_pieces(pieces, name)


def _is_notebook(file: OpenFile) -> bool:
    return file.path.endswith(NOTEBOOK) and all(map(read_notebook, file.texts))


def _write_notebook(merged: Merged, file: OpenFile, name_cause: Label) -> None:
    """Merge the cells of a notebook; its conflicts are noted."""

    def merge_source(ending: str, base: str, own: str, new: str) -> str:
        if own in (base, new) or base == new:
            return new if own == base else own
        if not new:  # the cell is no longer generated
            rows = frame(own.split("\n"), base.split("\n"), (), name_cause(file.name, base))
            return "\n".join(rows)
        sides = (side and f"{side}\n" for side in (base, own, new))
        cell = open_file(file.name, f"cell{ending}", *sides)
        cell.kind = kind_of(cell.path)
        _assemble_all(merged, [cell], {}, {})
        pieces = cell.assembly.merge(cell.doubts)
        return _write_open(cell, pieces, name_cause)[0].removesuffix("\n")

    text, deleted = merge_notebook(file, merge_source)
    merged.files[file.path] = file.ending.put_on(text)
    merged.conflicts += find_conflicts(file.path, text)
    for name in deleted:
        merged.notes.append(f"{file.path}: the cell {name} stays deleted, as you left it.")
