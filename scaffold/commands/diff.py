"""`scaffold diff`: what the owner of a project changed, as a patch."""

from pathlib import Path

from scaffold.commands.screen import show_changes
from scaffold.merge.source.style import plain_newlines
from scaffold.project.changes import Change
from scaffold.project.folder import find_project
from scaffold.project.moves import follow_moves
from scaffold.project.pristine import Pristine, read_pristine
from scaffold.project.read import read_text


def show_own_changes(folder: Path) -> None:
    """Print what the owner changed since the last render. Raises ScaffoldError."""
    folder = find_project(folder)
    pristine = follow_moves(folder, read_pristine(folder))
    show_changes(own_changes(folder, pristine), renames(pristine))


def own_changes(folder: Path, pristine: Pristine) -> list[Change]:
    """What the owner changed in the files of the render: `before` is the rendered text.

    A moved file has a change at its new path, even if its text is the same; `renames` has its old
    path. Newlines of Windows are no change. Raises ScaffoldError for a file that exists but can't
    be read.
    """
    changes = []
    for name, before in pristine.files.items():
        place = pristine.place(name)
        after = read_text(folder, place)
        if after is None:
            changes.append(Change(name, before, None))  # at the path it would be deleted from
        elif (after := plain_newlines(after)) != before or place != name:
            changes.append(Change(place, before, after))
    return changes


def renames(pristine: Pristine) -> dict[str, str]:
    """The rendered path of each moved file, by its new path."""
    return {place: name for name, place in pristine.moved.items() if place != name}
