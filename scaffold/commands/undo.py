"""`scaffold undo`: the state before the last update."""

from pathlib import Path

import typer

from scaffold.project.folder import find_project
from scaffold.project.journal import locked, undo_last


def undo_update(folder: Path, keep_copy: bool) -> None:
    """Revert the last update. Raises ScaffoldError if files were edited since."""
    folder = find_project(folder)
    with locked(folder) as notes:
        typer.echo("\n".join([*notes, *undo_last(folder, keep_copy)]))
