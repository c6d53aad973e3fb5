"""`scaffold eject`: a project from a script that trains with Lightning, Transformers or others."""

from pathlib import Path

import typer

from scaffold.answers.manifests import load_catalog
from scaffold.cache import remember
from scaffold.commands.screen import printable
from scaffold.eject.read import read_plan
from scaffold.eject.report import report
from scaffold.eject.write import fill
from scaffold.errors import ScaffoldError
from scaffold.project.origin import find_origin
from scaffold.project.pristine import PRISTINE, Pristine, write_pristine
from scaffold.project.write import check_target, write_new


def eject_script(script: Path, folder: Path | None, prove: int) -> None:
    """Write a project that trains as a script does. Exits with 1 if something is left to do."""
    from scaffold import __version__
    from scaffold.eject.answers import complete
    from scaffold.render.project import render_project

    folder = (folder or Path(script.stem + "_project")).expanduser().resolve()
    if folder.exists():
        raise ScaffoldError(f"{folder} exists: choose another path; nothing is overwritten.")
    check_target(folder, {})
    plan = read_plan(script)
    catalog = load_catalog()
    answers = complete(catalog, plan, folder.name)
    rendered = render_project(catalog, answers, remember)
    files = fill(plan, rendered)
    pristine = Pristine(__version__, answers, rendered, templates=find_origin().as_table())
    write_new(folder, {PRISTINE: write_pristine(pristine), **files})
    typer.echo("\n".join(map(printable, [*report(plan), "", f"Wrote {folder}"])))
    different = False
    if prove:
        from scaffold.eject.prove import prove as compare

        lines, different = compare(script, plan.framework, folder, prove)
        typer.echo("\n".join(lines))
    if plan.todos or different:
        raise typer.Exit(1)
