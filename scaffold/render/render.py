"""Renders a project from answers, in memory."""

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scaffold.answers.catalog import Catalog, Component, Option, Value, line_of
from scaffold.answers.schema import active_features, applies, chosen, monitored, task_values
from scaffold.answers.settings import toml_literal, write_settings
from scaffold.errors import TemplateError
from scaffold.render.format import finish
from scaffold.render.imports import LINE_LENGTH, merge_imports, split_imports
from scaffold.render.launch import launch
from scaffold.render.places import (
    Directive,
    Fragment,
    Line,
    Part,
    compose,
    is_empty,
    read_fragment,
    read_lines,
)
from scaffold.render.validate import check_config

if TYPE_CHECKING:
    from jinja2 import Environment


def render_project(catalog: Catalog, answers: Mapping[str, Value]) -> dict[str, str]:
    """The text of each file of a project, by its path with '/' in it.

    `answers` are complete and checked, as `answers.resolve` returns them. Raises TemplateError for
    a fault in the templates.
    """
    components = active_components(catalog, answers)
    context = build_context(catalog, answers, components)
    environment = build_environment()
    folders = source_folders(catalog, answers, components)
    paths = _collect_files(folders)
    modules = {Path(name).stem for name in paths if name.endswith(".py")}
    sources: dict[str, list[Line]] = {}
    composed: set[str] = set()
    for name, path in paths.items():
        lines = read_lines(path)
        if name.endswith(".py"):
            fragments = _collect_fragments(folders, name)
            if is_empty(lines, fragments):
                continue
            if name == "train.py":
                fragments.append(_config_fields(lines, components, catalog, answers))
            if fragments:
                composed.add(name)
            lines = _compose(lines, fragments, modules)
        sources[name] = lines
    _check_fragment_targets(folders, paths)
    context["files"] = sorted(sources)
    files = {name: _fill(environment, lines, context) for name, lines in sources.items()}
    finished = {}
    for name, text in files.items():
        if name.endswith(".py"):
            # one that nothing was put into is formatted as it is: a test sees to that
            unformatted = name in composed or text != _join(sources[name])
            finished[name] = finish(name, text, sources[name], unformatted)
    check_config(files, sources)
    files |= finished
    files["scaffold.toml"] = write_settings(catalog, answers)
    return dict(sorted(files.items()))


def active_components(catalog: Catalog, answers: Mapping[str, Value]) -> list[Component]:
    task = catalog.tasks[str(answers["project.task"])]
    traits = [trait for name, trait in catalog.traits.items() if name in task.has]
    return [catalog.base, catalog.hardware, *traits, task, *active_features(catalog, answers)]


@dataclass(frozen=True)
class Folder:
    """A folder with files/ and fragments/, and those of the task or its traits that go first."""

    component: Component
    versions: tuple[Path, ...]  # the last is the component's own

    @cached_property
    def files(self) -> dict[str, Path]:
        """Where whole files come from, by their name in the project."""
        return self._find("files")

    @cached_property
    def fragments(self) -> dict[str, Path]:
        """Where code for the places of other files comes from, by the name of that file."""
        return self._find("fragments")

    def _find(self, kind: str) -> dict[str, Path]:
        found: dict[str, Path] = {}
        for version in reversed(self.versions):
            folder = version / kind
            for path in sorted(path for path in folder.rglob("*") if path.is_file()):
                if "__pycache__" not in path.parts:
                    found[path.relative_to(folder).as_posix()] = path
        return found


def source_folders(
    catalog: Catalog, answers: Mapping[str, Value], components: Iterable[Component]
) -> list[Folder]:
    """All folders that a project comes from: each component's own, and that of each choice.

    Inside any of these, `with/NAME/` is for when that feature is on, too, and `without/NAME/` for
    when it is off. A task or a trait can have a version of its own of what a feature has, in
    `features/NAME/`.
    """
    components = list(components)
    special = [part.folder for part in components if part.kind in ("task", "trait")]
    active = [part.name for part in components if part.kind == "feature"]
    folders = []
    for component in components:
        choices = [
            Path(option.name, _folder_name(option, answers[option.key]))
            for option in component.options
            if option.type != "float" and applies(catalog, option, answers)
        ]
        parts = [Path(), *choices]
        for folder in [folder for part in parts if (folder := component.folder / part).is_dir()]:
            beside = [path for path in sorted(folder.glob("with/*")) if path.name in active]
            beside += [path for path in sorted(folder.glob("without/*")) if path.name not in active]
            parts += [path.relative_to(component.folder) for path in beside]
        for part in parts:
            own = component.folder / part
            versions = [own]
            if component.kind == "feature":
                versions = [folder / "features" / component.name / part for folder in special]
                versions = [*reversed(versions), own]
            folders.append(Folder(component, tuple(filter(Path.is_dir, versions))))
    return folders


def _folder_name(option: Option, value: Value) -> str:
    """A choice or number: its value. Yes or no: `true` or `false`. A text: `given` or `empty`."""
    if option.type in ("choice", "int"):
        return str(value)
    return str(value).lower() if option.type == "bool" else "given" if value else "empty"


def build_context(
    catalog: Catalog, answers: Mapping[str, Value], components: list[Component]
) -> dict[str, Any]:
    """What templates may read: each table of answers, and what follows from them."""
    context: dict[str, Any] = {"features": {}}
    for key, value in answers.items():
        *path, name = key.split(".")
        table = context
        for part in path:
            table = table.setdefault(part, {})
        table[name] = value
    values = task_values(catalog, answers)
    context["task"] = {**values, "sign": "" if values["higher_is_better"] else "-"}
    context["launch"] = launch(catalog, answers)
    context["active"] = [component for component in components if component.kind == "feature"]
    for feature in context["active"]:
        if any(option.name == "monitor" for option in feature.options):
            name, higher = monitored(catalog, feature, answers)
            context["features"][feature.name] |= {"monitor": name, "sign": "" if higher else "-"}
    rows = (row for component in components for row in _dependencies(catalog, component, answers))
    # a later component may need another version of a package than the base
    packages = {re.split("[^A-Za-z0-9_.-]", row)[0]: row for row in rows}
    context["dependencies"] = sorted(packages.values())
    return context


def build_environment() -> "Environment":
    """Jinja with filters that write a value as a literal of Python, YAML or TOML."""
    import jinja2

    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    for name, write in (("python", python_literal), ("yaml", yaml_literal), ("toml", toml_literal)):
        environment.filters[name] = _refuse_undefined(write)
    environment.filters["arguments"] = python_arguments
    environment.filters["shell"] = _refuse_undefined(shell_word)
    return environment


def _refuse_undefined(write: Callable[[Any], str]) -> Callable[[Any], str]:
    """The filter, which would write an undefined value by its `repr`, where `str` raises."""
    import jinja2

    return lambda value: str(value) if isinstance(value, jinja2.Undefined) else write(value)


def python_literal(value: object) -> str:
    """The value in Python, with the quotes that black prefers."""
    text = repr(value)
    if text.startswith("'") and '"' not in text:
        return f'"{text[1:-1]}"'
    return text


def shell_word(value: object) -> str:
    """The value as one word of a shell's command."""
    return shlex.quote(str(value))


def python_arguments(rows: Iterable[tuple[str, object, object]]) -> str:
    """Keyword arguments of a call, from rows of name, value and default, without the defaults."""
    return ", ".join(
        f"{name}={python_literal(value)}" for name, value, default in rows if value != default
    )


def yaml_literal(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(yaml_literal, value))}]"
    if value is None:
        return "null"
    if isinstance(value, bool | int):
        return str(value).lower()
    if isinstance(value, str) and re.fullmatch("[A-Za-z0-9_.-]+", value):
        return f"'{value}'"  # that is safe, and spares the import
    import yaml

    text: str = yaml.safe_dump(
        value, default_flow_style=True, width=float("inf"), allow_unicode=True
    )
    return text.removesuffix("\n").removesuffix("...").removesuffix("\n")


def _dependencies(
    catalog: Catalog, component: Component, answers: Mapping[str, Value]
) -> Iterator[str]:
    yield from component.dependencies
    for choice in chosen(catalog, component, answers):
        yield from choice.dependencies


def _collect_files(folders: Iterable[Folder]) -> dict[str, Path]:
    """Where each file of the project comes from. A task may bring its own version of one."""
    found: dict[str, Path] = {}
    owners: dict[str, Component] = {}
    for folder in folders:
        component = folder.component
        for name, path in folder.files.items():
            if name in found and component.kind != "task" and owners[name] is not component:
                raise TemplateError(path, 1, f"{found[name]} is the same file of the project")
            found[name], owners[name] = path, component
    return found


def _collect_fragments(folders: Iterable[Folder], name: str) -> list[Fragment]:
    found = (folder.fragments.get(name) for folder in folders)
    return [read_fragment(path) for path in found if path]


def _check_fragment_targets(folders: Iterable[Folder], names: Mapping[str, Path]) -> None:
    for folder in folders:
        for name, path in folder.fragments.items():
            if name not in names:
                raise TemplateError(path, 1, f"the project has no file {name}")


def _config_fields(
    base: list[Line], components: list[Component], catalog: Catalog, answers: Mapping[str, Value]
) -> Fragment:
    """A field of Config for each setting that the script itself reads."""
    lines = [
        line
        for component in components
        for option in component.options
        if option.config and applies(catalog, option, answers)
        for line in _config_field(component, option, answers[option.key])
    ]
    return Fragment((), (Part(Directive(base[0], 0, "slot", "config"), tuple(lines)),))


def _config_field(component: Component, option: Option, value: Value) -> list[Line]:
    """One field, with its comment behind it, or above it where the line is too long."""
    values = ", ".join(python_literal(choice.value) for choice in option.choices)
    kind = f"Literal[{values}]" if option.type == "choice" else option.type
    head, comment = f"{option.field}: {kind} = ", f"# {option.comment}"
    field = f"{head}{{{{ {option.key} | python }}}}"
    if len(f"    {head}{python_literal(value)}  {comment}") <= LINE_LENGTH:
        rows = [f"{field}  {comment}"]
    else:
        rows = [comment, field]
    number = line_of(component.manifest, f"[options.{option.name}]")
    return [Line(row, component.manifest, number) for row in rows]


def _compose(base: list[Line], fragments: list[Fragment], modules: set[str]) -> list[Line]:
    """A Python file with all fragments in place and all imports merged."""
    start, end = split_imports(base)
    blocks = [base[start:end], *(fragment.imports for fragment in fragments)]
    imports = merge_imports(blocks, modules)
    if imports and start == end:  # below a docstring: blank lines as black has them
        blank = Line("", base[0].path, end)
        imports = [blank, *imports, blank]
    return [*base[:start], *imports, *compose(base[end:], fragments)]


def _fill(environment: "Environment", lines: list[Line], context: Mapping[str, Any]) -> str:
    """The text of the lines with the values of the answers in it."""
    import jinja2

    text = _join(lines)
    if not re.search("{[{%#]", text):
        return text
    try:
        return environment.from_string(text).render(context)
    except jinja2.TemplateSyntaxError as error:
        raise lines[error.lineno - 1].error(error.message or "is not Jinja") from None
    except jinja2.UndefinedError as error:
        number = _template_line(error)
        raise lines[number - 1].error(str(error)) from None


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
