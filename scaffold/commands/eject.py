"""`scaffold eject`: a project from a script that trains with Lightning, Transformers or others."""

from pathlib import Path

import typer

from scaffold import __version__
from scaffold.answers.manifests import load_catalog
from scaffold.cache import remember
from scaffold.commands.screen import printable
from scaffold.eject.build import build, report
from scaffold.eject.prove import prove
from scaffold.errors import ScaffoldError
from scaffold.project.origin import find_origin
from scaffold.project.pristine import PRISTINE, Pristine, write_pristine
from scaffold.project.write import check_target, write_new


def eject_script(script: Path, folder: Path | None, updates: int) -> None:
    """Write a project that trains as a script does. Exits with 1 if something is left to do.

    With `updates`, trains both for so many, and compares them: this runs the script.
    """
    folder = (folder or Path(f"{script.stem}_project")).expanduser().resolve()
    if folder.exists():
        raise ScaffoldError(f"{folder} exists: choose another path; nothing is overwritten.")
    check_target(folder, {})
    plan, answers, rendered, files = build(load_catalog(), script, folder.name, remember)
    pristine = Pristine(__version__, answers, rendered, templates=find_origin().as_table())
    write_new(folder, {PRISTINE: write_pristine(pristine), **files})
    typer.echo("\n".join(map(printable, [*report(plan), "", f"Wrote {folder}"])))
    different = False
    if updates:
        rows, different = prove(plan, folder, updates)
        typer.echo("\n".join(rows))
    if plan.todos or different:
        raise typer.Exit(1)
