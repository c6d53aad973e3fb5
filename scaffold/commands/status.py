"""`scaffold status`: what became of the files of a render, and what is left to do.

Files are read, never run, and no link is followed out of the project.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import typer

from scaffold import __version__
from scaffold.answers.catalog import Catalog, Value, load_catalog
from scaffold.answers.schema import Answers, resolve, schema
from scaffold.answers.settings import toml_literal
from scaffold.errors import AnswerError, ScaffoldError
from scaffold.project.answers import SETTINGS, effective_answers, next_answers
from scaffold.project.changes import Conflict
from scaffold.project.moves import follow_moves
from scaffold.project.pristine import FOLDER, Pristine, read_pristine
from scaffold.project.read import read_text

UNDO = f"{FOLDER}/undo.json"

# the states of a file, in the order in which they are told
UNTOUCHED, EDITED, MOVED, MOVED_EDITED = "untouched", "edited", "moved", "moved, edited"
DELETED, UNREADABLE = "deleted", "unreadable"  # there is something in its place, but no text
STATES = (EDITED, MOVED, MOVED_EDITED, DELETED, UNREADABLE, UNTOUCHED)

Unapplied = dict[str, tuple[Value | None, Value | None]]


# what a person sees


@dataclass(frozen=True)
class Status:
    pristine: Pristine
    states: Mapping[str, str]  # of the files
    conflicts: Sequence[Conflict]
    unapplied: Unapplied | None  # None if scaffold.toml is not valid
    problem: str | None  # what is wrong with it
    can_undo: bool


def show_status(folder: Path, as_json: bool) -> None:
    """Print the state of a project. Raises ScaffoldError if the folder holds none."""
    catalog = load_catalog()
    status = read_status(catalog, folder)
    if as_json:
        typer.echo(json.dumps(as_object(status), indent=1))
    else:
        typer.echo("\n".join(_printable(row) for row in _tell(catalog, folder, status)))


def read_status(catalog: Catalog, folder: Path) -> Status:
    """Raises ScaffoldError if the folder holds no project."""
    pristine = follow_moves(folder, read_pristine(folder))
    unapplied, problem = None, None
    try:
        unapplied = unapplied_answers(catalog, folder, pristine)
    except ScaffoldError as error:
        problem = str(error)
    return Status(
        pristine,
        file_states(folder, pristine),
        open_conflicts(folder, pristine),
        unapplied,
        problem,
        can_undo=(folder / UNDO).is_file(),
    )


def as_object(status: Status) -> dict[str, Any]:
    """The state for other programs; later versions may only add keys.

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
    unapplied = None
    if status.unapplied is not None:
        unapplied = {
            key: {"applied": one, "wanted": two} for key, (one, two) in status.unapplied.items()
        }
    return {
        "version": status.pristine.version,
        "tool_version": __version__,
        "answers": dict(status.pristine.answers),
        "files": {
            name: {"state": state, "path": status.pristine.place(name)}
            for name, state in status.states.items()
        },
        "conflicts": [asdict(conflict) for conflict in status.conflicts],
        "unapplied": unapplied,
        "problem": status.problem,
        "can_undo": status.can_undo,
    }


def _tell(catalog: Catalog, folder: Path, status: Status) -> Iterator[str]:
    """The state for people, a line each."""
    version = status.pristine.version
    yield f"{folder}: written by scaffold {version}; this is scaffold {__version__}."
    yield from ("", *_tell_answers(catalog, status.pristine))
    yield from ("", *_tell_files(status.pristine, status.states))
    if status.conflicts:
        yield from ("", "Conflicts that are still open:")
        yield from (f"  {found.path}:{found.line}: {found.label}" for found in status.conflicts)
    if status.problem is not None:
        yield from ("", status.problem)
    elif status.unapplied:
        yield from ("", f"Answers in {SETTINGS} that `scaffold update` would apply:")
        for key, (before, after) in status.unapplied.items():
            yield f"  {key}: {_show(before)} -> {_show(after)}"
    if status.can_undo:
        yield from ("", "`scaffold undo` takes the last update back.")


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
    before = effective_answers(catalog, pristine.answers)
    try:
        after = effective_answers(catalog, next_answers(catalog, folder, pristine, {}))
    except AnswerError as error:
        raise ScaffoldError(f"{folder / pristine.place(SETTINGS)}: {error}") from None
    keys = [key for key in schema(catalog) if before.get(key) != after.get(key)]
    # a setting that this version has brought along is no answer of anyone
    keys = [key for key in keys if key in pristine.answers]
    return {key: (before.get(key), after.get(key)) for key in keys}
