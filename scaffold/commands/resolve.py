"""`scaffold resolve`: takes one side of the conflicts that an update left."""

import shlex
from collections.abc import Sequence
from pathlib import Path

import typer

from scaffold.commands.plan import read_code
from scaffold.commands.screen import tell_conflicts, tell_notes, tell_warnings
from scaffold.errors import ScaffoldError
from scaffold.merge.checks.project import checked_in, find_new_wrongs
from scaffold.merge.conflicts import SHORTENED, take_side
from scaffold.project.changes import Change
from scaffold.project.encoding import decode, encoding_of
from scaffold.project.folder import find_project, read_project
from scaffold.project.journal import apply_changes, locked, texts_before_update
from scaffold.project.pristine import Pristine
from scaffold.project.read import read_text
from scaffold.project.state import open_conflicts


def resolve_conflicts(folder: Path, names: Sequence[str], *, ours: bool, theirs: bool) -> None:
    """Keep the owner's lines or the new ones in all open conflicts, or in those of some files.

    Exits with 1 if conflicts are left, or if code is wrong now. Raises ScaffoldError.
    """
    if ours == theirs:
        raise ScaffoldError(
            "choose one side: --ours for the lines below `<<<<<<< yours`, --theirs for the new "
            "lines below `=======`."
        )
    folder = find_project(folder)
    with locked(folder) as notes:
        tell_notes(notes)
        pristine = read_project(folder)
        conflicts = open_conflicts(folder, pristine)
        chosen = list(dict.fromkeys(conflict.path for conflict in conflicts))
        if names:
            chosen = [_find(folder, name, chosen) for name in names]
        short = [row for row in conflicts if row.path in chosen and row.label.endswith(SHORTENED)]
        if theirs and short:
            raise ScaffoldError(
                f"{short[0].path}:{short[0].line}: the new lines are only what changes in code "
                "that you moved: write these changes where it is now, and delete the conflict."
            )
        places = {pristine.place(name) for name in pristine.files}
        changes = []
        for path in dict.fromkeys(chosen):
            before = read_text(folder, path)
            assert before is not None
            after: str | None = take_side(before, ours)
            if not after and path not in places:
                after = None  # it is no longer generated
            changes.append(Change(path, before, after))
        side = "--ours" if ours else "--theirs"
        command = shlex.join(["scaffold", "resolve", side, *(change.path for change in changes)])
        tell_notes(apply_changes(folder, changes, command=command))
        left = open_conflicts(folder, pristine)
        wrong = [] if left else _new_wrongs(folder, pristine)
    if not changes:
        typer.echo("There are no open conflicts.")
        return
    for change in changes:
        number = sum(conflict.path == change.path for conflict in conflicts)
        how = "deleted" if change.after is None else f"{'your' if ours else 'the new'} lines"
        typer.echo(f"{change.path}: {number} conflict(s) resolved: {how}")
    typer.echo("`scaffold undo` brings the conflicts back.")
    if left:
        typer.echo("\n".join(["", *tell_conflicts(left)]))
    if wrong:
        typer.echo("\n".join(["", *tell_warnings(wrong)]))
    if left or wrong:
        raise typer.Exit(1)


def _new_wrongs(folder: Path, pristine: Pristine) -> list[str]:
    """What is wrong in the code now, and was not before the update."""
    rendered = {pristine.place(name): text for name, text in pristine.files.items()}
    now = read_code(folder, rendered)
    before, now = (
        {path: decode(text, encoding_of(path, text)) for path, text in files.items()}
        for files in (now | texts_before_update(folder), now)
    )
    sides = map(checked_in, (before, now, rendered))
    return list(map(str, find_new_wrongs(*sides)))


def _find(folder: Path, name: str, known: Sequence[str]) -> str:
    """The file with conflicts that this path names, from the project or from here."""
    if name in known:
        return name
    for path in known:
        if Path(name).absolute() == folder / path:
            return path
    hint = f"the open conflicts are in {', '.join(known)}." if known else "there are none."
    raise ScaffoldError(f"{name}: has no open conflict; {hint}")
