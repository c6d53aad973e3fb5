"""Merges an edited project with a new render of it, in memory.

Each file has three versions: as it was generated, as its owner edited it, and as it would be
generated now. `merge_files` merges all files; `diff/assemble.py` merges one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from scaffold.merge.checks.deleted import tell_deleted
from scaffold.merge.checks.project import Wrong, checked_in, find_new_wrongs
from scaffold.merge.conflicts import Conflict, frame, take_side
from scaffold.merge.diff.assemble import Clash, assemble, choose_ours, write_pieces
from scaffold.merge.diff.triple import Hunk
from scaffold.merge.guards.across_files import check_across_files
from scaffold.merge.guards.broken_names import verify
from scaffold.merge.model import (
    Generated,
    OpenFile,
    broken_line,
    kind_of,
    laid_out,
    mended_text,
    open_file,
)
from scaffold.merge.normalize.absorbed_files import follow_absorbed
from scaffold.merge.normalize.config_forms import follow_settings
from scaffold.merge.normalize.files import lay_out_like_others, normalize_files
from scaffold.merge.normalize.import_paths import ImportPaths, find_import_paths
from scaffold.merge.normalize.moved_definitions import follow_definitions
from scaffold.merge.normalize.new_files import follow_renames
from scaffold.merge.source import style
from scaffold.merge.source.statement import PYTHON, TEXT, split
from scaffold.merge.source.write import write_units

Files = Mapping[str, str]  # texts by path
Label = Callable[[str, str], str]  # of a file and the lines that a conflict is about


@dataclass
class Merged:
    files: dict[str, str | None] = field(default_factory=dict)  # None: deleted
    conflicts: list[Conflict] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)  # what a person has to look at


def merge_files(
    pristine: Generated,
    ours: Mapping[str, str],
    theirs: Mapping[str, str],
    label: str | Label,
) -> Merged:
    """The project after an update.

    `ours` are the owner's files by path, `theirs` the new render. `label` names the cause of a
    conflict. Texts are as in the files: newlines and byte order marks are kept.
    """
    merged = Merged()
    import_paths = find_import_paths(pristine.moved, ours)
    files, theirs = (
        _with_import_paths(import_paths, pristine, ours, texts)
        for texts in (pristine.files, theirs)
    )
    files, theirs = follow_absorbed(files, ours, theirs, pristine.place)
    open_files: list[OpenFile] = []
    replaced: list[OpenFile] = []
    dropped: dict[str, tuple[str, str]] = {}  # files that are no longer generated
    name_cause = label if callable(label) else lambda name, text: label
    for name in sorted(files.keys() | theirs.keys()):
        path = pristine.place(name)
        base, own, new = files.get(name), ours.get(path), theirs.get(name)
        if own is not None and own == pristine.files.get(name) and new != base:
            own = base  # unedited, also where other imports would find the modules now
        if own is None:
            _merge_missing(merged, path, base, new, ours)
        elif base is not None and new is None:
            dropped[path] = base, own
        elif new is not None:
            file = open_file(name, path, base or "", own, new)
            if own in (base, new) or file.texts[1] in (file.texts[0], file.texts[2]):
                merged.files[path] = file.ending.put_on(file.texts[2])
                replaced.append(file)
            elif file.texts[0] == file.texts[2]:
                merged.files[path] = own
            else:
                open_files.append(file)
    generated = {pristine.place(name) for name in (*pristine.files, *theirs)}
    open_files = follow_definitions(open_files, ours, generated)
    open_files = follow_settings(open_files, ours, generated)
    _assemble_all(merged, open_files, ours)
    for path, texts in dropped.items():
        _merge_dropped(merged, path, *texts, open_files, name_cause)
    _name_new_files(merged, pristine, files, ours, theirs)
    merged.files |= lay_out_like_others(replaced, open_files, ours)
    merged.notes += check_across_files(
        merged.files, merged.conflicts, open_files, pristine, ours, theirs
    )
    for file in open_files:
        merged.files[file.path] = file.ending.put_on(_write(merged, file, name_cause))
    _warn_of_deleted(merged, pristine, files, ours, theirs)
    _warn(merged, pristine, ours, theirs)
    merged.files = dict(sorted(merged.files.items()))
    merged.conflicts.sort(key=lambda conflict: (conflict.path, conflict.line))
    return merged


def _name_new_files(
    merged: Merged, pristine: Generated, files: Files, ours: Files, theirs: Files
) -> None:
    """Give new files the owner's names for what they import."""
    edited = {
        place: (text, ours[place])
        for name, text in files.items()
        if (place := pristine.place(name)).endswith(".py") and ours.get(place, text) != text
    }
    for path in {pristine.place(name) for name in theirs.keys() - files.keys()} - ours.keys():
        merged.files[path] = follow_renames(path, merged.files[path] or "", edited)


def _with_import_paths(
    import_paths: ImportPaths,
    pristine: Generated,
    ours: Mapping[str, str],
    files: Mapping[str, str],
) -> dict[str, str]:
    """Generated files with imports and commands that find the modules where they are now."""
    spelled = {}
    for name, text in files.items():
        place = pristine.place(name)
        own, base = ours.get(place), pristine.files.get(name, "")
        if name.endswith(".py"):
            text = import_paths.put_on(place, text)
        elif own is None or own == import_paths.put_on_commands(base):
            text = import_paths.put_on_commands(text)
        spelled[name] = text
    return spelled


def _warn_of_deleted(
    merged: Merged, pristine: Generated, files: Files, ours: Files, theirs: Files
) -> None:
    """Note changes of deleted files whose code is in another file now."""
    for name in sorted(files.keys() & theirs.keys()):
        path, base, new = pristine.place(name), files[name], theirs[name]
        if path not in ours and new != base and path.endswith(".py"):
            merged.warnings += filter(None, [tell_deleted(path, base, new, ours, merged.files)])


def _warn(
    merged: Merged, pristine: Generated, ours: Mapping[str, str], theirs: Mapping[str, str]
) -> None:
    """Note what is wrong now anywhere in the project, and was not before."""
    rendered = checked_in({pristine.place(name): text for name, text in theirs.items()})
    before, after = checked_in(ours), checked_in({**ours, **merged.files})
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
    merged.warnings += map(str, found or ())


def _merge_missing(
    merged: Merged, path: str, base: str | None, new: str | None, ours: Mapping[str, str]
) -> None:
    """A file that the owner does not have."""
    if base is None:
        crlf = bool(ours) and all("\r\n" in text for text in ours.values() if text)
        merged.files[path] = style.Ending(crlf=crlf).put_on(new or "")
    elif new is not None and new != base:
        merged.notes.append(f"{path} stays deleted, as you left it.")


def _merge_dropped(
    merged: Merged,
    path: str,
    base: str,
    own: str,
    files: Sequence[OpenFile],
    name_cause: Label,
) -> None:
    """A file that is no longer generated."""
    text, ending = style.take_ending(own)
    if text == base or _says_same(path, text, base, files):
        merged.files[path] = None
        return
    cause = name_cause(path, base)
    rows = frame(text.split("\n")[:-1], base.split("\n")[:-1], (), cause)
    merged.files[path] = ending.put_on("".join(f"{row}\n" for row in rows))
    merged.conflicts.append(Conflict(path, 1, cause))


def _says_same(path: str, own: str, base: str, files: Sequence[OpenFile]) -> bool:
    """Whether the owner only laid out a file in another way, or renamed what other files rename."""
    if kind_of(path) != PYTHON:
        return False
    pairs = {pair for file in files for pair in file.renames.everywhere.items()}
    sides = split(base, PYTHON), split(own, PYTHON)
    return len(sides[0]) == len(sides[1]) and all(
        one.depth == two.depth and style.says_same(one, two, pairs)
        for one, two in zip(*sides, strict=True)
    )


def _assemble_all(merged: Merged, files: Sequence[OpenFile], ours: Mapping[str, str]) -> None:
    """Merge what both sides changed, file by file."""
    for file in files:
        if file.kind == PYTHON and (line := broken_line(file.texts[1])):
            merged.warnings.append(
                f"{file.path}:{line}: is not valid Python, so the file was merged line by line and "
                "not checked: review its changes. `scaffold undo` reverts the update."
            )
            file.kind = TEXT
    normalize_files(files, ours)
    for file in files:
        base, own, new = file.units
        file.assembly = assemble(
            base,
            own,
            new,
            file.kind,
            indent=style.find_indent(file.texts[1]) if file.kind == PYTHON else "",
            union=not file.path.endswith((".sh", ".py")),
        )
    for file in files:
        verify(file)


def _write(merged: Merged, file: OpenFile, name_cause: Label) -> str:
    """The text of a merged file; its conflicts are in it, and noted."""
    pieces = file.assembly.merge(file.doubts)
    if not any(isinstance(piece, Clash) for piece in pieces):
        units = choose_ours(pieces)
        return laid_out(
            file, mended_text(file, pieces) if file.kind == PYTHON else write_units(units)
        )

    def name(rows: str, hunk: Hunk) -> str:
        reasons = {
            reason
            for (start, end), reason in file.doubts.items()
            if reason and hunk[0] <= start and end <= hunk[1]
        }
        cause = name_cause(file.name, rows)
        return f"{cause} ({'; '.join(sorted(reasons))})" if reasons else cause

    text, conflicts = write_pieces(pieces, name)
    merged.conflicts += [Conflict(file.path, line, cause) for line, cause in conflicts]
    return text
