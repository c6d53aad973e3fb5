"""`scaffold status`: what became of the files of a render, and what is left to do.

Files are read, never run, and no link is followed out of the project.
"""

import difflib
import itertools
import json
import os
import re
import stat
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath

import typer

from scaffold import __version__
from scaffold.answers import Answers, applies, check, resolve, schema
from scaffold.catalog import Catalog, Value, load_catalog
from scaffold.changes import Conflict
from scaffold.errors import AnswerError, ScaffoldError
from scaffold.pristine import FOLDER, Pristine, check_name, read_pristine
from scaffold.settings import toml_literal

SETTINGS = "scaffold.toml"
UNDO = f"{FOLDER}/undo.json"

# the states of a file, in the order in which they are told
UNTOUCHED, EDITED, MOVED, MOVED_EDITED = "untouched", "edited", "moved", "moved, edited"
DELETED, UNREADABLE = "deleted", "unreadable"  # there is something in its place, but no text
STATES = (EDITED, MOVED, MOVED_EDITED, DELETED, UNREADABLE, UNTOUCHED)

SIMILAR = 0.6  # the share of common lines from which on a file is one that was moved
MOST_FILES = 3000  # that are looked into for one that was moved
MOST_ENTRIES = 30_000  # of folders, a data set among them
MOST_BYTES = 1_000_000
# no code of the project, or copies of it
_OTHER_FOLDERS = {"__pycache__", "build", "dist", "node_modules", "runs", "venv"}
_OTHER_PROJECTS = {FOLDER, "pyvenv.cfg"}  # what is in the folder of another project

Unapplied = dict[str, tuple[Value | None, Value | None]]


# what a person sees


def show_status(folder: Path, as_json: bool) -> None:
    """Print the state of a project. Raises ScaffoldError if the folder holds none.

    As JSON it is one object, to which later versions may only add keys:

    - `version`: of scaffold, with which the project was written or updated last
    - `tool_version`: of this scaffold
    - `answers`: the value of each setting that was applied last, by its key
    - `files`: by the path of each rendered file: `{"state", "path"}`, where `state` is one of
      STATES and `path` where it is now
    - `conflicts`: a list of `{"path", "line", "label"}`
    - `unapplied`: by key, settings that differ in scaffold.toml: `{"applied", "wanted"}`, each null
      where the setting has no effect; null if scaffold.toml is not valid
    - `problem`: what is wrong with scaffold.toml, or null
    - `can_undo`: whether there is an update that `scaffold undo` takes back
    """
    catalog = load_catalog()
    pristine = follow_moves(folder, read_pristine(folder))
    states = file_states(folder, pristine)
    conflicts = open_conflicts(folder, pristine)
    unapplied: Unapplied | None = None
    problem = None
    try:
        unapplied = unapplied_answers(catalog, folder, pristine)
    except ScaffoldError as error:
        problem = str(error)
    can_undo = (folder / UNDO).is_file()
    if as_json:
        status = {
            "version": pristine.version,
            "tool_version": __version__,
            "answers": dict(pristine.answers),
            "files": {
                name: {"state": state, "path": pristine.place(name)}
                for name, state in states.items()
            },
            "conflicts": [
                {"path": found.path, "line": found.line, "label": found.label}
                for found in conflicts
            ],
            "unapplied": (
                None
                if unapplied is None
                else {key: {"applied": one, "wanted": two} for key, (one, two) in unapplied.items()}
            ),
            "problem": problem,
            "can_undo": can_undo,
        }
        typer.echo(json.dumps(status, indent=1))
        return
    rows = [f"{folder}: written by scaffold {pristine.version}; this is scaffold {__version__}."]
    rows += ["", *_tell_answers(catalog, pristine)]
    rows += ["", *_tell_files(pristine, states)]
    if conflicts:
        rows += ["", "Conflicts that are still open:"]
        rows += [f"  {found.path}:{found.line}: {found.label}" for found in conflicts]
    if problem is not None:
        rows += ["", problem]
    elif unapplied:
        rows += ["", f"Answers in {SETTINGS} that `scaffold update` would apply:"]
        rows += [
            f"  {key}: {_show(before)} -> {_show(after)}"
            for key, (before, after) in unapplied.items()
        ]
    if can_undo:
        rows += ["", "`scaffold undo` takes the last update back."]
    typer.echo("\n".join(_printable(row) for row in rows))


def _tell_answers(catalog: Catalog, pristine: Pristine) -> Iterator[str]:
    answers = effective_answers(catalog, pristine.answers)
    usual = resolve(catalog, _only_name(pristine.answers))
    other = {key: value for key, value in answers.items() if value != usual[key]}
    other.pop("project.name", None)
    yield "Answers other than the defaults:" if other else "All answers are the defaults."
    for key, value in other.items():
        yield f"  {key} = {toml_literal(value)}"


def _only_name(answers: Mapping[str, Value]) -> Answers:
    """The name alone, which other defaults follow."""
    return {key: value for key, value in answers.items() if key == "project.name"}


def _tell_files(pristine: Pristine, states: Mapping[str, str]) -> Iterator[str]:
    yield "Files:"
    for state in STATES:
        names = [name for name, its_state in states.items() if its_state == state]
        if state == UNTOUCHED:
            if names:
                yield f"  {state}: {len(names)} of {len(states)}"
            continue
        for name in names:
            place = pristine.place(name)
            yield f"  {state}: {name}" + (f" -> {place}" if place != name else "")


def _show(value: Value | None) -> str:
    return "no effect" if value is None else toml_literal(value)


def _printable(text: str) -> str:
    """Without what a terminal would obey: some of it comes from files."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)


# files


def file_states(folder: Path, pristine: Pristine) -> dict[str, str]:
    """What became of each file of the render: one of STATES, by its path in the render.

    Where moved files are, `follow_moves` tells.
    """
    pristine = follow_moves(folder, pristine)
    return {name: _state(folder, pristine, name) for name in pristine.files}


def _state(folder: Path, pristine: Pristine, name: str) -> str:
    place = pristine.place(name)
    try:
        text = read_text(folder, place)
    except ScaffoldError:
        return UNREADABLE
    if text is None:
        return DELETED
    if place == name:
        return UNTOUCHED if text == pristine.files[name] else EDITED
    return MOVED if text == pristine.files[name] else MOVED_EDITED


def read_text(folder: Path, name: str) -> str | None:
    """The text of a file in the project as it is stored. None if there is none.

    A link is followed inside the project. Raises ScaffoldError for one that leads out, for what is
    no file, and for a file that can't be read.
    """
    path = folder / name
    try:
        real = path.resolve()
        if not real.is_relative_to(folder.resolve()):
            raise ScaffoldError(f"{path}: is a link that leads out of the project.")
        if real.exists() and not real.is_file():
            raise ScaffoldError(f"{path}: is no file.")
        return _decode(real.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ScaffoldError(f"{path}: can't be read: {error.strerror}.") from None
    except RuntimeError:  # links in a circle
        raise ScaffoldError(f"{path}: is a link that leads nowhere.") from None


def _decode(content: bytes) -> str:
    return content.decode(errors="surrogateescape")


# files that were moved


def follow_moves(folder: Path, pristine: Pristine) -> Pristine:
    """The render with all moves of its owner, also those after the last update."""
    missing = [name for name in pristine.files if not _exists(folder, pristine.place(name))]
    if not missing:
        return pristine
    places = [pristine.place(name) for name in pristine.files]
    texts = read_texts(
        folder, [*places, *pristine.files], {PurePosixPath(name).suffix for name in missing}
    )
    moved = {**pristine.moved, **find_moved(pristine, texts)}
    return replace(pristine, moved={name: at for name, at in moved.items() if name != at})


def _exists(folder: Path, name: str) -> bool:
    return os.path.lexists(folder / name)


def find_moved(pristine: Pristine, texts: Mapping[str, str]) -> dict[str, str]:
    """Where the owner has moved rendered files that are missing from their places.

    `texts` are the project's, by path, as `read_texts` returns them. A file is taken for the moved
    one if it has the same suffix and most lines in common; each is the place of one file only. A
    file that came back to where it was rendered has its own path.
    """
    missing = [name for name in pristine.files if pristine.place(name) not in texts]
    found = {name: name for name in missing if name in texts}
    taken = {*pristine.files, *(pristine.place(name) for name in pristine.files)}
    lines: dict[str, list[str]] = {}
    pairs = []
    for name in missing:
        if name in found or not pristine.files[name].strip():
            continue  # an empty file is like any other
        path = PurePosixPath(name)
        # what the second text has in it is counted once for all of the first ones
        matcher = difflib.SequenceMatcher(None, [], _split(pristine.files[name]))
        for other, text in texts.items():
            place = PurePosixPath(other)
            if other in taken or place.suffix != path.suffix:
                continue
            if other not in lines:
                lines[other] = _split(text)
            matcher.set_seq1(lines[other])
            if matcher.real_quick_ratio() >= SIMILAR and matcher.quick_ratio() >= SIMILAR:
                ratio = matcher.ratio()
                if ratio >= SIMILAR:
                    pairs.append((-ratio, place.name != path.name, name, other))
    for _, _, name, other in sorted(pairs):
        if name not in found and other not in found.values():
            found[name] = other
    return found


def _split(text: str) -> list[str]:
    """Lines, the same for each kind of newline: an editor may have changed it with the place."""
    return text.replace("\r\n", "\n").split("\n")


def read_texts(
    folder: Path, always: Iterable[str] = (), suffixes: Collection[str] | None = None
) -> dict[str, str]:
    """The text files of a project, by path, those near its root first, then `always`.

    Left out are what is hidden, links, other projects, environments, runs, large files and those
    with a zero byte, and, where `suffixes` are given, files with another one. The files `always`
    are in it if they are there and can be read.
    """
    texts: dict[str, str] = {}
    for path in _walk(folder, suffixes):
        if len(texts) >= MOST_FILES:
            break
        try:
            content = path.read_bytes()
            name = check_name(path.relative_to(folder).as_posix())
        except (OSError, ValueError):  # gone or locked, or a name that no patch could hold
            continue
        if b"\0" not in content:
            texts[name] = _decode(content)
    for name in always:
        if name not in texts:
            try:
                text = read_text(folder, name)
            except ScaffoldError:
                continue
            if text is not None:
                texts[name] = text
    return texts


def _walk(folder: Path, suffixes: Collection[str] | None) -> Iterator[Path]:
    """Files that may be text, one folder after the other, those near the root first."""
    folders = deque([folder])
    seen = 0
    while folders and seen < MOST_ENTRIES:
        here = folders.popleft()
        try:
            with os.scandir(here) as scan:
                first = itertools.islice(scan, MOST_ENTRIES - seen)
                entries = sorted(first, key=lambda entry: entry.name)
        except OSError:
            continue
        if here != folder and any(entry.name in _OTHER_PROJECTS for entry in entries):
            continue
        seen += len(entries)
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if not entry.name.startswith(".") and entry.name not in _OTHER_FOLDERS:
                    folders.append(Path(entry.path))
            elif suffixes is None or PurePosixPath(entry.name).suffix in suffixes:
                try:
                    about = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                if stat.S_ISREG(about.st_mode) and about.st_size <= MOST_BYTES:
                    yield Path(entry.path)


# conflicts


def open_conflicts(folder: Path, pristine: Pristine) -> list[Conflict]:
    """The conflicts in the files of the render that nobody has decided yet."""
    conflicts = []
    for name in pristine.files:
        try:
            text = read_text(folder, pristine.place(name))
        except ScaffoldError:
            continue
        if text is not None:
            conflicts += find_conflicts(pristine.place(name), text)
    return conflicts


def find_conflicts(path: str, text: str) -> list[Conflict]:
    """The regions between conflict markers in a file, each with what is behind its last marker.

    One marker alone, such as a line under a heading, is none.
    """
    conflicts: list[Conflict] = []
    first = 0  # the line with the marker that opens the region, 0 outside of one
    divided = False
    if "<<<<<<<" not in text:
        return conflicts
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.rstrip("\r")
        if re.match(r"<{7}( |$)", line):
            first, divided = number, False
        elif first and line == "=======":
            divided = True
        elif divided and re.match(r">{7}( |$)", line):
            conflicts.append(Conflict(path, first, line[7:].strip()))
            first, divided = 0, False
    return conflicts


# answers


def unapplied_answers(catalog: Catalog, folder: Path, pristine: Pristine) -> Unapplied:
    """Answers before and after, by key, that differ between the last render and scaffold.toml.

    None for a setting that has no effect. Raises ScaffoldError if scaffold.toml is not valid.
    """
    from scaffold.update import next_answers  # which needs this module, for files and moves

    before = effective_answers(catalog, pristine.answers)
    try:
        after = effective_answers(catalog, next_answers(catalog, folder, pristine, {}))
    except AnswerError as error:
        raise ScaffoldError(f"{folder / pristine.place(SETTINGS)}: {error}") from None
    keys = [key for key in schema(catalog) if before.get(key) != after.get(key)]
    # a setting that this version has brought along is no answer of anyone
    keys = [key for key in keys if key in pristine.answers]
    return {key: (before.get(key), after.get(key)) for key in keys}


def complete(
    catalog: Catalog, given: Mapping[str, Value], previous: Mapping[str, Value]
) -> Answers:
    """The given answers, and those previous ones that had an effect and have one beside them."""
    effective = effective_answers(catalog, previous)
    answers = {**_defaults(catalog), **effective, **given}
    for feature in catalog.features.values():
        table = f"features.{feature.name}."
        named = any(key.startswith(table) for key in given)
        if named and not feature.switch and table + "enabled" not in given:
            answers[table + "enabled"] = True  # as `resolve` has it
    options = schema(catalog)
    return {
        key: answers[key]
        for key in options
        if key in given or (key in effective and applies(catalog, options[key], answers))
    }


def effective_answers(catalog: Catalog, answers: Mapping[str, Value]) -> Answers:
    """The answers that have an effect, of settings that this version has."""
    options = schema(catalog)
    known: Answers = {}
    for key, option in options.items():
        if key in answers:
            with suppress(AnswerError):  # a value that only another version allows
                known[key] = check(option, answers[key])
    everything = {**_defaults(catalog), **known}
    return {
        key: value for key, value in known.items() if applies(catalog, options[key], everything)
    }


def _defaults(catalog: Catalog) -> Answers:
    return {key: option.default for key, option in schema(catalog).items()}
