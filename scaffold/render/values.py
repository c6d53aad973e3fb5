"""What templates read, and how a value is written as a literal of Python, YAML, TOML or a shell."""

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from scaffold import __version__
from scaffold.answers.catalog import HUB, Catalog, Choice, Component, Feature, Task, Value
from scaffold.answers.resolve import (
    LOOP,
    applies,
    chosen,
    default_answers,
    monitored,
    task_values,
    traits,
)
from scaffold.answers.settings import toml_literal
from scaffold.render.format import Remember
from scaffold.render.launch import launch

if TYPE_CHECKING:
    from jinja2 import Environment, Template

# settings of the hardware that change the result, by the size of a batch or the precision
RESULT_OF_HARDWARE = ("hardware.num_machines", "hardware.num_processes", "hardware.mixed_precision")


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
    context["task"] = {
        **values,
        "sign": "" if values["higher_is_better"] else "-",
        "unpack": "" if values["batch"] == "batch" else f"{values['batch']} = batch",
    }
    context["told_by"] = _who_tells(catalog, answers)
    context["data_paths"] = [
        answers[option.key]
        for option in catalog.tasks[str(answers["project.task"])].options
        if option.path not in ("", HUB) and applies(catalog, option, answers)
    ]
    context["changes"] = changes(catalog, answers)
    context["keys"] = keys_of_fields(catalog, answers, components)
    context["launch"] = launch(catalog, answers)
    writes = [
        values.get("writes", {}),
        *(catalog.traits[name].writes for name in sorted(traits(catalog, answers))),
        *(one.writes for one in components if not isinstance(one, Task)),
    ]
    context["writes"] = {name: text for part in writes for name, text in part.items()}
    context["active"] = [component for component in components if isinstance(component, Feature)]
    for feature in context["active"]:
        if any(option.name == "monitor" for option in feature.options):
            name, higher = monitored(catalog, feature, answers)
            context["features"][feature.name] |= {"monitor": name, "sign": "" if higher else "-"}
    rows = (row for component in components for row in _dependencies(catalog, component, answers))
    # a later component may need another version of a package than the base
    packages = {re.split("[^A-Za-z0-9_.-]", row)[0]: row for row in rows}
    context["dependencies"] = sorted(packages.values())
    return context


def _who_tells(catalog: Catalog, answers: Mapping[str, Value]) -> str:
    """Where the values of the task come from: for messages."""
    task = catalog.tasks[str(answers["project.task"])]
    made = [option for option in task.options if option.choices]
    choices = [f"{o.name}={answers[o.key]}" for o in made if applies(catalog, o, answers)]
    return " or ".join([str(task.manifest), *(f"its choice {choice}" for choice in choices)])


def keys_of_fields(
    catalog: Catalog, answers: Mapping[str, Value], components: list[Component]
) -> dict[str, str]:
    """Where scaffold.toml has each field of Config."""
    options = [option for component in components for option in component.options]
    return {
        option.field: option.key
        for option in options
        if option.config and applies(catalog, option, answers)
    }


def changes(catalog: Catalog, answers: Mapping[str, Value]) -> list[str]:
    """What differs from the defaults of the task and its data, as `key = value` or in words.

    Only answers that can change the result of training count.
    """
    task = str(answers["project.task"])
    given = {key: answers[key] for key in ("project.task", LOOP)}
    for option in catalog.tasks[task].options:
        made = [choice for choice in option.choices if choice.value == answers[option.key]]
        # the path of the data, what the task says about it, and the settings that go with it
        about_data = any("target" in choice.values for choice in made) or option.when.keys() & given
        if option.path or about_data:
            given[option.key] = answers[option.key]
    defaults = default_answers(catalog, given) | given
    changed = [
        key
        for key, option in catalog.settings.items()
        if answers[key] != defaults[key] and applies(catalog, option, answers)
    ]
    found = [
        f"`{key} = {toml_literal(answers[key])}`"
        for key in changed
        if key.startswith((f"{task}.", "training.")) or key in RESULT_OF_HARDWARE
    ]
    features = {catalog.settings[key].feature for key in changed if key.startswith("features.")}
    code = [next(catalog.features[name].folder.rglob("*.py"), None) for name in features]
    # the minimal loop has no features to change
    if answers[LOOP] == "complete" and any(code):
        found.append("its features")
    return found


def _dependencies(
    catalog: Catalog, component: Component, answers: Mapping[str, Value]
) -> Iterator[str]:
    words = {*traits(catalog, answers), str(answers["project.task"]), str(answers[LOOP])}
    parts: list[Component | Choice] = [component, *chosen(catalog, component, answers)]
    for part in parts:
        yield from part.dependencies
        for word in sorted(words):
            yield from part.dependencies_for.get(word, ())


@cache
def build_environment() -> "Environment":
    """Jinja with filters that write a value as a literal of Python, YAML or TOML."""
    import jinja2

    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
        optimized=False,  # a value that is known is not filtered in advance: its code is cached
    )
    for name, write in (("python", python_literal), ("yaml", yaml_literal), ("toml", toml_literal)):
        environment.filters[name] = _refuse_undefined(write)
    environment.filters["arguments"] = python_arguments
    environment.filters["shell"] = _refuse_undefined(shell_word)
    return environment


@lru_cache(maxsize=512)
def read_template(text: str, remember: Remember) -> "Template":
    """The template of a text. Raises jinja2.TemplateSyntaxError.

    `remember` may cache the Python that Jinja makes of it.
    """
    import jinja2
    from jinja2.bccache import bc_version

    environment = build_environment()
    key = f"{__version__} jinja {bc_version}\n{text}"
    code = remember(key, lambda: environment.compile(text, raw=True))
    compiled = compile(code, "<template>", "exec")
    return jinja2.Template.from_code(environment, compiled, environment.make_globals(None))


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

    # in a list, braces, brackets and commas need quotes too: the value may stand in one
    text: str = yaml.safe_dump(
        [value], default_flow_style=True, width=float("inf"), allow_unicode=True
    )
    return text.removesuffix("\n")[1:-1]
