"""Renders a project from answers, in memory."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from scaffold import __version__
from scaffold.answers.catalog import Catalog, Value
from scaffold.answers.settings import SETTINGS, write_settings
from scaffold.project.pristine import PRISTINE, Pristine, write_pristine
from scaffold.render.assemble import assemble
from scaffold.render.check import check_once
from scaffold.render.format import Remember, finish, make_anew
from scaffold.render.places import Line
from scaffold.render.templates import active_components
from scaffold.render.validate import check_config, check_imports
from scaffold.render.values import build_context, read_template

NO_TEMPLATES: Mapping[str, str] = {}


def build_project(
    catalog: Catalog,
    answers: Mapping[str, Value],
    remember: Remember = make_anew,
    templates: Mapping[str, str] = NO_TEMPLATES,
) -> dict[str, str]:
    """What is written to a new project's folder: the rendered files, and their pristine copy.

    `templates` says which ones they are, as in `project/origin.py`.
    """
    files = render_project(catalog, answers, remember)
    pristine = Pristine(__version__, answers, files, templates=templates)
    return {PRISTINE: write_pristine(pristine), **files}


def render_project(
    catalog: Catalog, answers: Mapping[str, Value], remember: Remember = make_anew
) -> dict[str, str]:
    """The text of each file of a project, by its path with '/' in it.

    `answers` are complete and checked, as `answers.resolve.resolve` returns them; `remember` may
    keep what takes long to make. Writes nothing. Raises TemplateError for a fault in the templates.
    """
    if remember is not make_anew:  # the check takes long: once for the same templates
        check_once(catalog, remember)
    sources, context = compose_project(catalog, answers)
    files = {name: fill(lines, context, remember) for name, lines in sources.items()}
    finished = {
        name: finish(name, text, sources[name], remember)
        for name, text in files.items()
        if name.endswith(".py")
    }
    check_config(files, sources)  # whose lines are those of the sources still
    check_imports(files, sources)
    files |= finished
    files[SETTINGS] = write_settings(catalog, answers)
    return dict(sorted(files.items()))


def compose_project(
    catalog: Catalog, answers: Mapping[str, Value]
) -> tuple[dict[str, list[Line]], dict[str, Any]]:
    """The lines of templates that each file comes from, and the values that they ask for."""
    components = active_components(catalog, answers)
    context = build_context(catalog, answers, components)
    sources = assemble(catalog, answers, components)
    context["files"] = sorted(sources)
    return sources, context


def fill(lines: Sequence[Line], context: Mapping[str, Any], remember: Remember = make_anew) -> str:
    """The text of the lines with the values of the answers in it."""
    import jinja2

    if any(re.search("{[%#]|{{(?!.*}})", line.text) for line in lines):
        places = list(range(len(lines)))
    else:  # values in some lines, and no others need Jinja
        places = [place for place, line in enumerate(lines) if "{{" in line.text]
    asked = [lines[place] for place in places]
    try:
        filled = read_template(_join(asked), remember).render(context) if asked else ""
    except jinja2.TemplateSyntaxError as error:
        raise asked[error.lineno - 1].error(error.message or "is not valid Jinja") from None
    except jinja2.UndefinedError as error:
        line = asked[_template_line(error) - 1]
        raise line.error(_missing(str(error), line, context)) from None
    if len(asked) == len(lines):
        return filled
    rows = [line.text for line in lines]
    for place, row in zip(places, filled.split("\n")[:-1], strict=True):
        rows[place] = row
    return "".join(f"{row}\n" for row in rows)


def _missing(message: str, line: Line, context: Mapping[str, Any]) -> str:
    """What is not there, and whose manifest has to say it."""
    found = re.search(r"has no attribute '(\w+)'", message)
    if found and f"task.{found[1]}" in line.text and "told_by" in context:
        return f"the task has no {found[1]!r}: {context['told_by']} must say it"
    return message


def _join(lines: Sequence[Line]) -> str:
    return "".join(f"{line.text}\n" for line in lines)


def _template_line(error: BaseException) -> int:
    """The line of the template in which an error of Jinja arose."""
    number, trace = 1, error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == "<template>":
            number = trace.tb_lineno
        trace = trace.tb_next
    return number
