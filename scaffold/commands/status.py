"""`scaffold status`: the state of a project's files, and what is left to do."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import typer

from scaffold import __version__
from scaffold.answers.catalog import Catalog, Value
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import Answers, resolve
from scaffold.answers.settings import SETTINGS, toml_literal
from scaffold.commands.screen import printable
from scaffold.errors import ScaffoldError
from scaffold.merge.conflicts import Conflict
from scaffold.project.answers import effective_answers
from scaffold.project.folder import find_project
from scaffold.project.journal import UNDO
from scaffold.project.moves import follow_moves
from scaffold.project.pristine import Pristine, read_pristine
from scaffold.project.state import (
    STATES,
    UNTOUCHED,
    Unapplied,
    file_states,
    open_conflicts,
    unapplied_answers,
)


@dataclass(frozen=True)
class Status:
    pristine: Pristine
    states: Mapping[str, str]  # of the files
    conflicts: Sequence[Conflict]
    unapplied: Unapplied | None  # None if scaffold.toml is not valid
    problem: str | None  # what is wrong with it
    can_undo: bool


def show_status(folder: Path, as_json: bool) -> None:
    """Print the state of a project. Raises ScaffoldError if the folder is not a project."""
    folder = find_project(folder)
    catalog = load_catalog()
    status = read_status(catalog, folder)
    if as_json:
        typer.echo(json.dumps(as_object(status), indent=1))
    else:
        typer.echo("\n".join(printable(row) for row in _tell(catalog, folder, status)))


def read_status(catalog: Catalog, folder: Path) -> Status:
    """Raises ScaffoldError if the folder is not a project."""
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

    - `version`: the version of scaffold that last wrote or updated the project
    - `tool_version`: the version of this scaffold
    - `answers`: the last applied value of each setting, by key
    - `files`: by the path of each rendered file: `{"state", "path"}`, where `state` is one of
      STATES and `path` where it is now
    - `conflicts`: a list of `{"path", "line", "label"}`
    - `unapplied`: the settings that differ in scaffold.toml, by key: `{"applied", "wanted"}`, each
      null if the setting has no effect; null if scaffold.toml is not valid
    - `problem`: what is wrong with scaffold.toml, or null
    - `can_undo`: whether there is an update that `scaffold undo` can revert
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
    """The state for people, line by line."""
    version = status.pristine.version
    yield f"{folder}: written by scaffold {version}; this is scaffold {__version__}."
    yield from ("", *_tell_answers(catalog, status.pristine))
    yield from ("", *_tell_files(status.pristine, status.states))
    if status.conflicts:
        yield from ("", "Open conflicts:")
        yield from (f"  {found.path}:{found.line}: {found.label}" for found in status.conflicts)
    if status.problem is not None:
        yield from ("", status.problem)
    elif status.unapplied:
        yield from ("", f"Answers in {SETTINGS} that `scaffold update` would apply:")
        for key, (before, after) in status.unapplied.items():
            yield f"  {key}: {_show(before)} -> {_show(after)}"
    if status.can_undo:
        yield from ("", "`scaffold undo` reverts the last update.")


def _tell_answers(catalog: Catalog, pristine: Pristine) -> Iterator[str]:
    answers = effective_answers(catalog, pristine.answers)
    usual = resolve(catalog, _only_name(pristine.answers))
    other = {key: value for key, value in answers.items() if value != usual[key]}
    other.pop("project.name", None)
    yield "Answers that differ from the defaults:" if other else "All answers are defaults."
    for key, value in other.items():
        yield f"  {key} = {toml_literal(value)}"


def _only_name(answers: Mapping[str, Value]) -> Answers:
    """Only the name, which other defaults depend on."""
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
