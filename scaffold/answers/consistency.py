"""What manifests say about each other must be true: faults are named with file and line."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scaffold.answers.catalog import (
    Catalog,
    Choice,
    Component,
    Feature,
    Option,
    Task,
    Value,
    line_of,
)
from scaffold.answers.check import check
from scaffold.answers.data import COLUMNS, KINDS
from scaffold.errors import AnswerError, TemplateError

SETS = ("train", "val", "test")  # that a metric is of, as `val_accuracy`
Fault = tuple[str, str]  # a text on the line that is wrong, and the message


def check_consistency(catalog: Catalog) -> None:
    """Raises TemplateError for the first fault."""
    for component in catalog.components:
        for text, message in _faults(catalog, component):
            raise TemplateError(component.manifest, line_of(component.manifest, text), message)


def _faults(catalog: Catalog, component: Component) -> Iterator[Fault]:
    for option in component.options:
        yield from _option_faults(catalog, option)
    if isinstance(component, Feature):
        yield from _settings(catalog, component.excludes, "excludes")
        yield from _defaults(catalog, component.defaults, "defaults")
    if isinstance(component, Task):
        yield from _defaults(catalog, component.defaults, "defaults")
        for choice, defaults in component.defaults_with.items():
            yield from _defaults(catalog, defaults, "defaults_with")
            key = choice.partition("=")[0]
            if "=" in choice:
                yield from _keys(catalog, [key], "defaults_with")
            elif choice.removeprefix("features.") not in catalog.features:
                yield choice, f"defaults_with: there is no feature {choice!r}"
        yield from _metric_faults(component)


def _option_faults(catalog: Catalog, option: Option) -> Iterator[Fault]:
    place = f"option {option.name!r}"
    for name, value, known in (
        ("path", option.path, KINDS),
        ("column", option.column, COLUMNS),
    ):
        if value and value not in known:
            message = f"{place}: {name} can't be {value!r}: it is one of {', '.join(known)}"
            yield f'{name} = "{value}"', message
    if option.default_from:
        yield from _keys(catalog, [option.default_from], f"{place}: default_from")
    for key, condition in option.when.items():
        yield from _settings(catalog, {key: condition.values}, f"{place}: when")
    for choice in option.choices:
        yield from _choice_faults(catalog, choice, f"{place}, choice {choice.value!r}")


def _choice_faults(catalog: Catalog, choice: Choice, place: str) -> Iterator[Fault]:
    yield from _settings(catalog, choice.excludes, f"{place}: excludes")
    yield from _defaults(catalog, choice.defaults, f"{place}: defaults")
    yield from _keys(catalog, choice.factors, f"{place}: factors")
    for name in sorted({*choice.needs, *choice.has, *choice.lacks} - catalog.traits.keys()):
        yield f'"{name}"', f"{place}: there is no trait {name!r}"


def _keys(catalog: Catalog, keys: Iterable[str], place: str) -> Iterator[Fault]:
    for key in keys:
        if key not in catalog.settings:
            yield key, f"{place}: there is no setting {key!r}"


def _defaults(catalog: Catalog, values: Mapping[str, Value], place: str) -> Iterator[Fault]:
    """Settings that do not exist, and values that these can't have."""
    yield from _keys(catalog, values, place)
    for key, value in values.items():
        if key in catalog.settings:
            try:
                check(catalog.settings[key], value)
            except AnswerError as error:
                yield key, f"{place}: {error}"


def _settings(
    catalog: Catalog, settings: Mapping[str, Iterable[Value]], place: str
) -> Iterator[Fault]:
    """Settings and values of them that do not exist."""
    yield from _keys(catalog, settings, place)
    for key, values in settings.items():
        option = catalog.settings.get(key)
        known = [choice.value for choice in option.choices] if option else []
        for value in values:
            if known and value not in known:
                yield str(value), f"{place}: {key} can't be {value!r}: it is one of {known}"


def _metric_faults(task: Task) -> Iterator[Fault]:
    """The metric that a task is judged by must be one that its evaluation returns."""
    choices = [choice for option in task.options for choice in option.choices]
    rows: list[Mapping[str, Any]] = [task.values, *(choice.values for choice in choices)]
    measured = {*task.metrics}.union(*(row.get("metrics", ()) for row in rows))
    for row in rows:
        names = {*row.get("metrics", measured if row is not task.values else task.metrics)}
        named = [row[key] for key in ("metric",) if key in row]
        named += [row["goal"]["metric"]] if "goal" in row else []
        for name in named:
            part, _, measure = name.partition("_")
            if measure not in names:
                yield f'"{name}"', f"{name!r} is not measured: {', '.join(sorted(names))} are"
            elif part not in SETS:
                message = f"{name!r} is of no set: it begins with one of {', '.join(SETS)}"
                yield f'"{name}"', message
