"""Finds a project on disk, and reads what was generated last."""

from dataclasses import replace
from pathlib import Path

from scaffold.errors import ScaffoldError
from scaffold.project.moves import follow_moves
from scaffold.project.origin import read_origin, refuse_newer
from scaffold.project.pristine import PRISTINE, Pristine, read_pristine
from scaffold.project.renames import translate_answers


def find_project(folder: Path) -> Path:
    """The folder of a project. Raises ScaffoldError if it is not one."""
    try:
        folder = folder.expanduser().resolve()
        if not folder.is_dir():
            raise ScaffoldError(f"{folder}: there is no such folder.")
    except (OSError, RuntimeError, ValueError) as error:
        raise ScaffoldError(f"{str(folder)!r} is not a valid path: {error}.") from None
    if not (folder / PRISTINE).is_file():
        read_pristine(folder)  # raises an error that says what is wrong
    return folder


def read_project(folder: Path) -> Pristine:
    """What was generated last, with the files that the owner moved since. Raises ScaffoldError."""
    pristine = follow_moves(folder, read_pristine(folder))
    refuse_newer(pristine.version, read_origin(pristine.templates))
    return replace(pristine, answers=translate_answers(pristine.version, pristine.answers))
