"""The files of an ejected project, in memory."""

import ast
from collections.abc import Mapping
from pathlib import Path

from scaffold.answers.catalog import Catalog
from scaffold.answers.resolve import Answers
from scaffold.eject.answers import complete
from scaffold.eject.plan import Plan
from scaffold.eject.read import read_plan
from scaffold.eject.write import fill
from scaffold.errors import ScaffoldError
from scaffold.render.format import Remember
from scaffold.render.project import render_project


def build(
    catalog: Catalog, script: Path, name: str, remember: Remember
) -> tuple[Plan, Answers, Mapping[str, str], Mapping[str, str]]:
    """What was found in a script, the answers, the rendered files, and those with its code.

    Raises ScaffoldError for a script that can't be carried over.
    """
    plan = read_plan(script)
    answers = complete(catalog, plan, name)
    rendered = render_project(catalog, answers, remember)
    try:
        files = fill(plan, rendered)
        for name, text in files.items():
            if name.endswith(".py"):
                ast.parse(text, name)
    except SyntaxError as error:
        raise ScaffoldError(
            f"{script}: something in it can't be carried over: the project would hold "
            f"{(error.text or '').strip()!r}, which is not valid Python. Nothing is written."
        ) from None
    return plan, answers, rendered, files
