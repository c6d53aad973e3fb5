"""The state of the files and answers of a render.

Files are only read, never run, and links out of the project are never followed.
"""

from pathlib import Path, PurePosixPath

from scaffold.answers.catalog import Catalog, Value
from scaffold.answers.settings import SETTINGS
from scaffold.errors import AnswerError, ScaffoldError
from scaffold.merge.conflicts import BASE, YOURS, Conflict, find_conflicts, find_leftovers
from scaffold.merge.source.style import plain_newlines
from scaffold.project.answers import effective_answers, next_answers
from scaffold.project.moves import follow_moves
from scaffold.project.pristine import Pristine
from scaffold.project.read import read_text, read_texts

# the states of a file, in the order in which they are listed
UNTOUCHED, EDITED, MOVED, MOVED_EDITED = "untouched", "edited", "moved", "moved, edited"
DELETED, UNREADABLE = "deleted", "unreadable"  # something is in its place, but not a text file
STATES = (EDITED, MOVED, MOVED_EDITED, DELETED, UNREADABLE, UNTOUCHED)

_OTHER_SUFFIXES = {".ipynb", ".sbatch", ".sh", ".yaml", ""}  # of files that only some have

Unapplied = dict[str, tuple[Value | None, Value | None]]


def file_states(folder: Path, pristine: Pristine) -> dict[str, str]:
    """The state of each file of the render: one of STATES, by its path in the render.

    `follow_moves` finds moved files.
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
    is_same = plain_newlines(text) == pristine.files[name]
    if place == name:
        return UNTOUCHED if is_same else EDITED
    return MOVED if is_same else MOVED_EDITED


def open_conflicts(folder: Path, pristine: Pristine) -> list[Conflict]:
    """The conflicts in the files of the render that are not resolved yet.

    And those in edited files that are no longer generated.
    """
    conflicts = []
    for name in pristine.files:
        try:
            text = read_text(folder, pristine.place(name))
        except ScaffoldError:
            continue
        if text is not None:
            conflicts += find_conflicts(pristine.place(name), text)
            conflicts += find_leftovers(pristine.place(name), text)
    places = {pristine.place(name) for name in pristine.files}
    suffixes = {PurePosixPath(name).suffix for name in pristine.files} | _OTHER_SUFFIXES
    for place, text in read_texts(folder, (), suffixes).items():
        if place not in places and f"{YOURS}\n" in text and f"{BASE}\n" in text:
            conflicts += find_conflicts(place, text)
    return conflicts


def unapplied_answers(catalog: Catalog, folder: Path, pristine: Pristine) -> Unapplied:
    """Answers before and after, by key, that differ between the last render and scaffold.toml.

    None for a setting that has no effect. Raises ScaffoldError if scaffold.toml is not valid.
    """
    before = effective_answers(catalog, pristine.answers)
    try:
        after = effective_answers(catalog, next_answers(catalog, folder, pristine, {}))
    except AnswerError as error:
        raise ScaffoldError(f"{folder / pristine.place(SETTINGS)}: {error}") from None
    keys = [key for key in catalog.settings if before.get(key) != after.get(key)]
    # settings that are new in this version do not count as changed
    keys = [key for key in keys if key in pristine.answers]
    return {key: (before.get(key), after.get(key)) for key in keys}
