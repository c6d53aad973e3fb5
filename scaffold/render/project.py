"""Renders a project from answers, in memory."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scaffold import __version__
from scaffold.answers.catalog import Catalog, Value
from scaffold.answers.settings import write_settings
from scaffold.project.pristine import PRISTINE, Pristine, write_pristine
from scaffold.render.fields import config_fields
from scaffold.render.folders import (
    active_components,
    check_fragment_targets,
    collect_files,
    collect_fragments,
    source_folders,
)
from scaffold.render.format import Remember, finish, make_anew
from scaffold.render.imports import merge_imports, split_imports
from scaffold.render.places import Fragment, Line, compose, is_empty, read_lines
from scaffold.render.validate import check_config
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

    `answers` are complete and checked, as `answers.schema.resolve` returns them; `remember` may
    keep what takes long to make. Writes nothing. Raises TemplateError for a fault in the templates.
    """
    components = active_components(catalog, answers)
    context = build_context(catalog, answers, components)
    folders = source_folders(catalog, answers, components)
    paths = collect_files(folders)
    modules = {Path(name).stem for name in paths if name.endswith(".py")}
    fields = config_fields(components, catalog, answers)
    sources: dict[str, list[Line]] = {}
    for name, path in paths.items():
        lines = read_lines(path)
        if name.endswith(".py"):
            fragments = collect_fragments(folders, name)
            if is_empty(lines, fragments):
                continue
            if name in fields:
                fragments.append(fields[name])
            lines = _compose(lines, fragments, modules)
        sources[name] = lines
    check_fragment_targets(catalog, folders, paths)
    context["files"] = sorted(sources)
    files = {name: _fill(lines, context) for name, lines in sources.items()}
    finished = {
        name: finish(name, text, sources[name], remember)
        for name, text in files.items()
        if name.endswith(".py")
    }
    check_config(files, sources)  # whose lines are those of the sources still
    files |= finished
    files["scaffold.toml"] = write_settings(catalog, answers)
    return dict(sorted(files.items()))


def _compose(base: list[Line], fragments: list[Fragment], modules: set[str]) -> list[Line]:
    """A Python file with all fragments in place and all imports merged."""
    start, end = split_imports(base)
    blocks = [base[start:end], *(fragment.imports for fragment in fragments)]
    imports = merge_imports(blocks, modules)
    if imports and start == end:  # below a docstring: blank lines as black has them
        blank = Line("", base[0].path, end)
        imports = [blank, *imports, blank]
    return [*base[:start], *imports, *compose(base[end:], fragments)]


def _fill(lines: list[Line], context: Mapping[str, Any]) -> str:
    """The text of the lines with the values of the answers in it."""
    import jinja2

    if any(re.search("{[%#]|{{(?!.*}})", line.text) for line in lines):
        places = list(range(len(lines)))
    else:  # values in some lines, and no others need Jinja
        places = [place for place, line in enumerate(lines) if "{{" in line.text]
    asked = [lines[place] for place in places]
    try:
        filled = read_template(_join(asked)).render(context) if asked else ""
    except jinja2.TemplateSyntaxError as error:
        raise asked[error.lineno - 1].error(error.message or "is not valid Jinja") from None
    except jinja2.UndefinedError as error:
        raise asked[_template_line(error) - 1].error(str(error)) from None
    if len(asked) == len(lines):
        return filled
    rows = [line.text for line in lines]
    for place, row in zip(places, filled.split("\n")[:-1], strict=True):
        rows[place] = row
    return "".join(f"{row}\n" for row in rows)


def _join(lines: list[Line]) -> str:
    return "".join(f"{line.text}\n" for line in lines)


def _template_line(error: BaseException) -> int:
    """The line of the template in which an error of Jinja arose."""
    number, trace = 1, error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == "<template>":
            number = trace.tb_lineno
        trace = trace.tb_next
    return number
