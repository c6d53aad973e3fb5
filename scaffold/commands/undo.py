"""`scaffold undo`: the state before the last update, or before several."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import typer

from scaffold.commands.screen import printable, tell_notes
from scaffold.errors import ScaffoldError
from scaffold.project.changes import Change
from scaffold.project.folder import find_project
from scaffold.project.journal import STEPS, last_commands, last_update, locked, undo_last
from scaffold.project.pristine import PRISTINE


def undo_update(folder: Path, keep_copy: bool, steps: int = 1) -> None:
    """Revert the last updates, and say what they were. Raises ScaffoldError if files were edited.

    Steps that were undone before such an error stay undone.
    """
    folder = find_project(folder)
    with locked(folder) as notes:
        tell_notes(notes)
        commands = last_commands(folder)
        if steps > max(1, len(commands)):
            raise ScaffoldError(
                f"--steps {steps}: {len(commands)} can be undone; nothing was changed."
            )
        for command in commands[:steps] or [""]:
            changes = last_update(folder) or ()
            rows = [*undo_last(folder, keep_copy), *_tell(command, changes)]
            typer.echo("\n".join(map(printable, rows)))
    typer.echo(printable(_reach(commands[steps:])))


def _tell(command: str, changes: Sequence[Change]) -> Iterator[str]:
    yield f"Undid `{command}`:" if command else "Undid the last update:"
    paths = [change.path for change in changes if change.before is not None]
    created = [change.path for change in changes if change.before is None]
    for word, names in (("restored", paths), ("deleted", created)):
        names = [name for name in names if name != PRISTINE]
        if names:
            yield f"{word} {', '.join(names)}"


def _reach(commands: Sequence[str]) -> str:
    """What is left to undo."""
    if not commands:
        return f"That was the last step that can be undone: up to {STEPS} are kept."
    told = f"`{commands[0]}`" if commands[0] else "the update before it"
    more = f", of {len(commands)} that are left" if len(commands) > 1 else ""
    return f"The next `scaffold undo` reverts {told}{more}."
