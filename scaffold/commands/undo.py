"""`scaffold undo`: the state before the last update."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import typer

from scaffold.commands.screen import printable
from scaffold.project.changes import Change
from scaffold.project.folder import find_project
from scaffold.project.journal import last_command, last_update, locked, undo_last
from scaffold.project.pristine import PRISTINE


def undo_update(folder: Path, keep_copy: bool) -> None:
    """Revert the last update, and say what that was. Raises ScaffoldError if files were edited."""
    folder = find_project(folder)
    with locked(folder) as notes:
        command, changes = last_command(folder), last_update(folder) or ()
        rows = [*notes, *undo_last(folder, keep_copy), *_tell(command, changes)]
        rows.append(_reach(last_command(folder), last_update(folder)))
    typer.echo("\n".join(map(printable, rows)))


def _tell(command: str, changes: Sequence[Change]) -> Iterator[str]:
    yield f"Undid `{command}`:" if command else "Undid the last update:"
    paths = [change.path for change in changes if change.before is not None]
    created = [change.path for change in changes if change.before is None]
    for word, names in (("restored", paths), ("deleted", created)):
        names = [name for name in names if name != PRISTINE]
        if names:
            yield f"{word} {', '.join(names)}"


def _reach(command: str, changes: Sequence[Change] | None) -> str:
    if changes is None:
        return "That was the last step that can be undone: only one update is kept."
    return (
        f"The next `scaffold undo` reverts `{command}`."
        if command
        else ("The next `scaffold undo` reverts the update before it.")
    )
