"""`scaffold adopt`: rebuilds a lost `.scaffold/` from scaffold.toml."""

import os
from pathlib import Path

import typer

from scaffold import __version__
from scaffold.answers.catalog import Catalog
from scaffold.answers.check import check, find_option
from scaffold.answers.manifests import load_catalog
from scaffold.answers.read import read_answers
from scaffold.answers.resolve import Answers, resolve
from scaffold.answers.settings import SETTINGS
from scaffold.cache import remember
from scaffold.commands.screen import show_changes, tell_notes
from scaffold.errors import AnswerError, ScaffoldError
from scaffold.project.changes import Change
from scaffold.project.journal import JOURNAL
from scaffold.project.moves import follow_moves
from scaffold.project.origin import find_origin
from scaffold.project.pristine import FOLDER, PRISTINE, Pristine, read_pristine, write_pristine
from scaffold.project.read import read_text
from scaffold.project.renames import translate_settings
from scaffold.project.state import DELETED, STATES, UNREADABLE, UNTOUCHED, file_states
from scaffold.project.write import write_new
from scaffold.render.project import render_project

DAMAGED = f"{PRISTINE}.damaged"
FIRST = "0.1.0"  # the version that is assumed if scaffold.toml has names of an earlier one


def adopt_project(folder: Path, *, dry_run: bool) -> None:
    """Write `.scaffold/` for the answers in scaffold.toml; all other files stay as they are.

    What differs from a new render counts as the owner's edits. Raises ScaffoldError.
    """
    folder = _find_lost(folder)
    catalog = load_catalog()
    version, answers = _answers(catalog, folder)
    files = render_project(catalog, answers, remember)
    templates = find_origin().as_table()
    pristine = follow_moves(folder, Pristine(version, answers, files, templates=templates))
    states = file_states(folder, pristine)
    if all(state == DELETED for name, state in states.items() if name != SETTINGS):
        raise ScaffoldError(
            f"{folder}: has none of the project's files: `scaffold new PATH --answers "
            f"{SETTINGS}` writes a new project with these answers."
        )
    if dry_run:
        renamed = {place: name for name, place in pristine.moved.items()}
        show_changes(_edits(folder, pristine, states), renamed)
        return
    if os.path.lexists(folder / PRISTINE):
        try:
            (folder / PRISTINE).replace(folder / DAMAGED)
        except OSError as error:
            raise ScaffoldError(f"{folder / PRISTINE}: {error.strerror}.") from None
        tell_notes([f"{DAMAGED} is the damaged file."])
    write_new(folder, {PRISTINE: write_pristine(pristine)}, into=True)
    typer.echo("\n".join(_report(pristine, states)))


def _find_lost(folder: Path) -> Path:
    """The folder of a project without a usable `.scaffold/`. Raises ScaffoldError for others."""
    try:
        folder = folder.expanduser().resolve()
        if not folder.is_dir():
            raise ScaffoldError(f"{folder}: there is no such folder.")
        home = folder / FOLDER
        if home.is_symlink() or (os.path.lexists(home) and not home.is_dir()):
            raise ScaffoldError(f"{home}: is not a folder of the project itself. Remove it first.")
        if os.path.lexists(folder / JOURNAL):
            raise ScaffoldError(
                f"{folder}: an update is unfinished: `scaffold status` says what is wrong."
            )
    except (OSError, RuntimeError, ValueError) as error:
        raise ScaffoldError(f"{str(folder)!r} is not a valid path: {error}.") from None
    try:
        read_pristine(folder)
    except ScaffoldError:
        return folder
    raise ScaffoldError(
        f"{folder}: {PRISTINE} exists and is intact, so there is nothing to rebuild: `scaffold "
        "diff` shows your edits, `scaffold update` applies new answers."
    )


def _answers(catalog: Catalog, folder: Path) -> tuple[str, Answers]:
    """The version whose names scaffold.toml has, and its answers."""
    version = __version__
    path = folder / SETTINGS
    text = read_text(folder, SETTINGS)
    if text is None:
        raise ScaffoldError(
            f"{path}: there is no such file, which {FOLDER}/ is rebuilt from: restore it, or "
            "create a new project with `scaffold new`."
        )
    try:
        given = read_answers(catalog, path, text=text)
    except ScaffoldError as error:
        try:
            given = read_answers(catalog, path, text=translate_settings(FIRST, text))
            version = FIRST
        except ScaffoldError:
            raise error from None
    try:
        if "project.name" not in given:
            given["project.name"] = check(find_option(catalog, "project.name"), folder.name)
        return version, resolve(catalog, given)
    except AnswerError as error:
        raise ScaffoldError(f"{path}: {error}") from None


def _edits(folder: Path, pristine: Pristine, states: dict[str, str]) -> list[Change]:
    """The owner's edits, from the render to what is there."""
    return [
        Change(pristine.place(name), pristine.files[name], read_text(folder, pristine.place(name)))
        for name, state in states.items()
        if state not in (UNTOUCHED, UNREADABLE)
    ]


def _report(pristine: Pristine, states: dict[str, str]) -> list[str]:
    rows = [f"Wrote {PRISTINE}, and changed nothing else. Your files, compared to a new render:"]
    for state in STATES:
        names = [name for name, its_state in states.items() if its_state == state]
        if state == UNTOUCHED:
            rows.append(f"  {state}: {len(names)} of {len(states)}")
            continue
        for name in names:
            place = pristine.place(name)
            rows.append(f"  {state}: {name}" + (f" -> {place}" if place != name else ""))
    return [*rows, "What differs counts as your edits: `scaffold diff` shows them."]
