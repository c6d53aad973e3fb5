"""Merges an edited project with a new render of it, in memory.

Three versions of each file: as it was generated, as its owner made it, as it would be generated
now. `merge_files` puts them together; `weave.py` says how one file is merged.
"""

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from scaffold.merge import dialect
from scaffold.merge.blocks import find_misplaced
from scaffold.merge.clashes import find_clashes, their_changes
from scaffold.merge.markers import choose, choose_mine, frame, write_pieces, write_units
from scaffold.merge.names import (
    REPEATED_IMPORT,
    UNDEFINED,
    UNUSED_IMPORT,
    Fault,
    find_faults,
    find_project_faults,
    mend_imports,
    module_of,
)
from scaffold.merge.reorder import find_order, follow_order
from scaffold.merge.three import Region
from scaffold.merge.units import PYTHON, TEXT, TOML, Unit, split
from scaffold.merge.weave import Clash, Piece, Weave, weave
from scaffold.project.changes import Conflict
from scaffold.project.pristine import Pristine

Label = Callable[[str, str], str]  # of a file and the lines that a conflict is about


@dataclass
class Merged:
    files: dict[str, str | None] = field(default_factory=dict)  # None: deleted
    conflicts: list[Conflict] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass
class _File:
    """One file on its way: everything that is known about its merge."""

    name: str  # in the render
    path: str  # in the project
    kind: str
    ending: dialect.Ending
    texts: tuple[str, str, str]  # base, mine, theirs with plain newlines
    layout: dialect.Layout | None = None
    units: tuple[list[Unit], list[Unit], list[Unit]] = ([], [], [])
    renames: dialect.Renames = field(default_factory=dialect.Renames)
    doubts: dict[Region, str] = field(default_factory=dict)
    woven: Weave = field(init=False)  # as soon as all files are in their dialects


def kind_of(name: str) -> str:
    return {"py": PYTHON, "toml": TOML}.get(name.rpartition(".")[2], TEXT)


def merge_files(
    pristine: Pristine,
    mine: Mapping[str, str],
    theirs: Mapping[str, str],
    label: str | Label,
) -> Merged:
    """The project after an update.

    `mine` holds the owner's files by their path, `theirs` the new render. `label` names the cause
    of a conflict. Text is as it is in the files: newlines and byte order marks are kept.
    """
    merged = Merged()
    moved = moved_modules(pristine, mine)
    if moved:  # what is generated finds the modules where they are now
        theirs = {
            name: _follow_moves(text, moved) if name.endswith(".py") else text
            for name, text in theirs.items()
        }
    open_files: list[_File] = []
    name_cause = label if callable(label) else lambda name, text: label
    for name in sorted(pristine.files.keys() | theirs.keys()):
        path = pristine.place(name)
        base, own, new = pristine.files.get(name), mine.get(path), theirs.get(name)
        if own is None:
            _merge_missing(merged, path, base, new, mine)
        elif base is not None and new is None:
            _merge_dropped(merged, path, base, own, name_cause)
        elif new is not None:
            file = _open(name, path, base or "", own, new)
            if own in (base, new) or file.texts[1] in (file.texts[0], file.texts[2]):
                merged.files[path] = file.ending.put_on(file.texts[2])
            elif file.texts[0] == file.texts[2]:
                merged.files[path] = own
            else:
                open_files.append(file)
    _weave_all(merged, open_files, moved)
    _check_together(merged, open_files, pristine, mine, theirs)
    for file in open_files:
        merged.files[file.path] = file.ending.put_on(_write(merged, file, name_cause))
    merged.files = dict(sorted(merged.files.items()))
    merged.conflicts.sort(key=lambda conflict: (conflict.path, conflict.line))
    return merged


def _merge_missing(
    merged: Merged, path: str, base: str | None, new: str | None, mine: Mapping[str, str]
) -> None:
    """A file that the owner does not have."""
    if base is None:
        crlf = bool(mine) and all("\r\n" in text for text in mine.values() if text)
        merged.files[path] = dialect.Ending(crlf=crlf).put_on(new or "")
    elif new is not None and new != base:
        merged.notes.append(f"{path} stays deleted, as you left it.")


def _merge_dropped(merged: Merged, path: str, base: str, own: str, name_cause: Label) -> None:
    """A file that is not generated any more."""
    text, ending = dialect.take_ending(own)
    if text == base:
        merged.files[path] = None
        return
    cause = name_cause(path, base)
    rows = frame(text.split("\n")[:-1], base.split("\n")[:-1], (), cause)
    merged.files[path] = ending.put_on("".join(f"{row}\n" for row in rows))
    merged.conflicts.append(Conflict(path, 1, cause))


def _open(name: str, path: str, base: str, own: str, new: str) -> _File:
    text, ending = dialect.take_ending(own)
    return _File(name, path, kind_of(name), ending, (base, text, new))


def _weave_all(merged: Merged, files: Sequence[_File], moved: Mapping[str, str]) -> None:
    """Put together what both sides changed, each file for itself."""
    for file in files:
        if file.kind == PYTHON and (line := _broken_line(file.texts[1])):
            merged.notes.append(
                f"{file.path} can't be read at line {line}: it was merged by lines."
            )
            file.kind = TEXT
        if file.kind == PYTHON:
            before, now = (split(text, PYTHON) for text in file.texts[:2])
            file.layout = dialect.find_layout(before, now, file.texts[1])
    _agree_on_width(files)
    for file in files:
        _put_into_dialect(file, moved)
    renames = {file.path: file.renames for file in files if file.kind == PYTHON}
    if any(found.everywhere for found in renames.values()):
        names = {
            file.path: dialect.names_in(file.units[1]) for file in files if file.path in renames
        }
        dialect.spread(renames, names)
    for file in files:
        base, own, new = file.units
        base = dialect.rename_units(base, file.renames)
        new = dialect.rename_units(new, file.renames)
        if file.kind == PYTHON:
            order = find_order(base, own)
            base, new = follow_order(base, order), follow_order(new, order)
        file.woven = weave(
            base,
            own,
            new,
            file.kind,
            indent=dialect.find_indent(file.texts[1]) if file.kind == PYTHON else "",
            union=not file.path.endswith((".sh", ".py")),
        )
    for file in files:
        _settle(file)


def moved_modules(pristine: Pristine, mine: Mapping[str, str]) -> dict[str, str]:
    """The dotted names of the modules that the owner moved, by the old ones.

    Left out are those that the owner's code still imports by the old name, as it may where
    everything was moved together.
    """
    code = "\n".join(text for path, text in mine.items() if path.endswith(".py"))
    return {
        module_of(name): module_of(path)
        for name, path in pristine.moved.items()
        if name.endswith(".py") and not re.search(_import_of(module_of(name)), code)
    }


def _import_of(module: str) -> str:
    return rf"(?m)^(\s*)(from|import) {re.escape(module)}(?![\w.])"


def _broken_line(text: str) -> int | None:
    """The line at which a file stops being Python. None if it is."""
    try:
        ast.parse(text)
    except SyntaxError as error:
        return error.lineno or 1
    except ValueError:  # what is no UTF-8
        return 1
    return None


def _agree_on_width(files: Sequence[_File]) -> None:
    """A file may fit several widths, or not show which: it takes the one that fits most files."""
    layouts = [(file, file.layout) for file in files if file.layout]
    if len({layout.width for _, layout in layouts}) < 2:
        return
    fits: dict[int, list[tuple[_File, dialect.Layout]]] = {}
    for width in {layout.width for _, layout in layouts if layout.width is not None}:
        for file, layout in layouts:
            layout = replace(layout, width=width)
            if layout.fits(file.texts[1]):
                fits.setdefault(width, []).append((file, layout))
    # the width of most files comes last, and stays
    for width in sorted(fits, key=lambda width: (len(fits[width]), -width)):
        for file, layout in fits[width]:
            file.layout = layout


def _put_into_dialect(file: _File, moved: Mapping[str, str]) -> None:
    base, own, new = file.texts
    if file.kind == PYTHON:
        if file.layout:
            base, new = file.layout.put_on(base), file.layout.put_on(new)
        base = _follow_moves(base, moved)  # what is generated now has followed them already
        file.texts = base, own, new
        file.renames = dialect.find_renames(split(base, PYTHON), split(own, PYTHON))
    base_units, own_units, new_units = (split(text, file.kind) for text in file.texts)
    file.units = base_units, own_units, new_units


def _follow_moves(text: str, moved: Mapping[str, str]) -> str:
    """The text with imports from moved modules as the owner's files have them."""
    for old, new in moved.items():
        text = re.sub(_import_of(old), rf"\1\2 {new}", text)
    return text


def _settle(file: _File) -> None:
    """Find the regions of a file whose merge would not hold."""
    if file.kind == TOML:
        _settle_toml(file)
    if file.kind != PYTHON:
        return
    # what is generated has no faults: only the owner's are none of the merge
    before = find_faults(file.texts[1])
    for _ in range(8):
        pieces = file.woven.merge(file.doubts)
        if any(isinstance(piece, Clash) for piece in pieces):
            _balance(file)
            return
        misplaced = find_misplaced(file.woven, choose_mine(pieces))
        moving = [
            region
            for region in their_changes(file.woven)
            if any(region[0] <= number <= region[1] for number in misplaced)
        ]
        if any(region not in file.doubts for region in moving):
            file.doubts |= dict.fromkeys(moving, "it would stand in another block")
            continue
        faults = find_faults(_mended(file, pieces))
        new = [fault for fault in faults if fault not in before]
        if not new:
            return
        for fault in new:
            _doubt(file, fault)


def _balance(file: _File) -> None:
    """Let each conflict cover so much that either choice leaves something that can be read."""
    last = len(file.woven.base) + 1
    for _ in range(40):
        grown = False
        for start, end in find_clashes(file.woven, file.doubts):
            if not all(_can_be_read(file, (start, end), theirs) for theirs in (False, True)):
                region = max(0, start - 1), min(last, end + 1)
                grown = grown or region not in file.doubts
                file.doubts.setdefault(region, "")
        if not grown:
            return


def _can_be_read(file: _File, region: Region, theirs: bool) -> bool:
    """Whether the file is Python with either side in one region, and the owner's in others."""
    units = choose(
        file.woven.merge(file.doubts),
        lambda clash: clash.theirs if theirs and clash.region == region else clash.mine,
    )
    try:
        ast.parse(write_units(units))
    except (SyntaxError, ValueError):
        return False
    return True


def _settle_toml(file: _File) -> None:
    import tomllib

    pieces = file.woven.merge()
    if any(isinstance(piece, Clash) for piece in pieces):
        return
    try:
        tomllib.loads(file.texts[1])
        tomllib.loads(write_units(choose_mine(pieces)))
    except tomllib.TOMLDecodeError:
        for region in their_changes(file.woven):
            file.doubts[region] = "the merged file could not be read"


def _doubt(file: _File, fault: Fault) -> None:
    """Doubt the changes that a fault comes from: those that name it, or else all."""
    changes = their_changes(file.woven)
    if not fault.name:
        for region in changes:
            pieces = file.woven.merge({*file.doubts, region})
            if fault not in find_faults(_mended(file, pieces)):
                file.doubts[region] = str(fault)
                return
    named = [
        region for region in changes if fault.name and _mentions(file.woven, region, fault.name)
    ]
    fresh = [region for region in named if region not in file.doubts]
    for region in fresh or changes:
        file.doubts[region] = str(fault)


def _mentions(woven: Weave, region: Region, name: str) -> bool:
    start, end = region
    units = list(woven.base[start:end])
    for number in range(start, end + 1):
        units += [woven.theirs.units[place] for place in woven.theirs.inserts[number]]
        unit = woven.theirs.of(number) if number < end else None
        units += [unit] if unit else []
    word = re.compile(rf"\b{re.escape(name.rpartition('.')[2])}\b")
    return any(word.search(unit.text) for unit in units)


def _check_together(
    merged: Merged,
    files: list[_File],
    pristine: Pristine,
    mine: Mapping[str, str],
    theirs: Mapping[str, str],
) -> None:
    """Doubt what a file takes from another file of the project in which it is not any more.

    Files that were not edited are merged after all where the fault is theirs, or where the owner's
    own code needs what they lose.
    """
    result = {path: text for path, text in merged.files.items() if text is not None}
    clashing = {conflict.path for conflict in merged.conflicts}
    for file in files:
        if file.kind == PYTHON:
            pieces = file.woven.merge(file.doubts)
            result[file.path] = _mended(file, pieces)
            if any(isinstance(piece, Clash) for piece in pieces):
                clashing.add(file.path)
    names = {pristine.place(name): name for name in (*pristine.files, *theirs)}
    # of all other code in the folder, which may be much, what uses the project's modules
    modules = "|".join(re.escape(module_of(path)) for path in names if path.endswith(".py"))
    uses = re.compile(rf"^[ \t]*(from|import) ({modules})\b", re.MULTILINE)
    mine = {path: text for path, text in mine.items() if path in names or uses.search(text)}
    others = {path: text for path, text in mine.items() if path not in merged.files}
    together = {**others, **result}
    rendered = {pristine.place(name): text for name, text in theirs.items()}
    if _code_in(together) == _code_in(rendered):
        return  # nothing in them is the owner's
    now = find_project_faults(together)
    own = find_project_faults(mine)
    new = find_project_faults(rendered)
    open_files = {file.path: file for file in files}
    for path, faults in now.items():
        for fault in faults:
            if fault in own.get(path, ()) or fault in new.get(path, ()):
                continue
            at = path if path in names else fault.source  # who has it, or who lost it
            if at in clashing or fault.source in clashing:
                continue  # there is something to decide already
            if at not in open_files and at in names and at in mine:
                open_files[at] = _reopen(names[at], at, pristine, mine, theirs)
                files.append(open_files[at])
            if at in open_files:
                _doubt(open_files[at], fault)


def _code_in(files: Mapping[str, str]) -> dict[str, str]:
    return {path: text for path, text in files.items() if path.endswith(".py")}


def _reopen(
    name: str, path: str, pristine: Pristine, mine: Mapping[str, str], theirs: Mapping[str, str]
) -> _File:
    """A file that had seemed to need no merge."""
    file = _open(name, path, pristine.files.get(name, ""), mine[path], theirs.get(name, ""))
    base, own, new = (split(text, file.kind) for text in file.texts)
    file.woven = weave(base, own, new, file.kind)
    return file


def _mended(file: _File, pieces: Sequence[Piece]) -> str:
    """The merged text, the owner's in conflicts, its imports as its code needs them."""
    text = write_units(choose_mine(pieces))
    _, own, new = file.texts
    before = find_faults(own)
    kinds = (UNDEFINED, UNUSED_IMPORT, REPEATED_IMPORT)
    for _ in range(8):
        faults = [
            fault for fault in find_faults(text) if fault.kind in kinds and fault not in before
        ]
        mended = mend_imports(text, faults, (new, own))
        if mended == text:
            break
        text = mended
    return text


def _write(merged: Merged, file: _File, name_cause: Label) -> str:
    """The text of a merged file; its conflicts are in it, and noted."""
    pieces = file.woven.merge(file.doubts)
    if not any(isinstance(piece, Clash) for piece in pieces):
        units = choose_mine(pieces)
        return _laid_out(file, _mended(file, pieces) if file.kind == PYTHON else write_units(units))
    reasons = "; ".join(sorted(set(file.doubts.values()) - {""}))
    text, conflicts = write_pieces(
        pieces, lambda rows: name_cause(file.name, rows) + (f" ({reasons})" if reasons else "")
    )
    merged.conflicts += [Conflict(file.path, line, cause) for line, cause in conflicts]
    return text


def _laid_out(file: _File, text: str) -> str:
    """The text as black has it, if that is how the owner's file is laid out as a whole."""
    if file.layout and file.layout.width is not None:
        try:
            return file.layout.put_on(text)
        except ValueError:  # InvalidInput: black can't read it, and the text stands as merged
            return text
    return text
