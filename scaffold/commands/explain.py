"""`scaffold features` and `scaffold explain`: what there is, and what a feature adds."""

import difflib
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

import typer

from scaffold.answers.catalog import Catalog, Component, Feature, Task
from scaffold.answers.check import check, find_option
from scaffold.answers.manifests import load_catalog, template_root
from scaffold.answers.names import choices_named, packages, suggest_settings
from scaffold.answers.recipes import load_recipes, recipe_answers
from scaffold.answers.resolve import Answers, answers_for, can_fit, is_on, resolve
from scaffold.answers.settings import describe, toml_literal
from scaffold.cache import remember
from scaffold.commands.screen import show_changes, terminal_width
from scaffold.errors import ScaffoldError
from scaffold.machine import memory
from scaffold.machine.model import know_model
from scaffold.project.changes import Change
from scaffold.render.pages import write_option_page, write_page, write_recipe_page
from scaffold.render.project import render_project

KINDS = ("tasks", "features", "recipes", "settings")


def list_features(
    words: Sequence[str] = (),
    task: str | None = None,
    kind: str | None = None,
    on: bool | None = None,
) -> None:
    """Print tasks, features, recipes and all settings, or what is left of them.

    Only what holds all `words`, goes with the `task`, is of this kind, and, with `on`, the features
    that are on (or off) by default. Raises ScaffoldError if nothing is left.
    """
    catalog = load_catalog()
    given: Answers = {"project.name": "example"}
    if task is not None:
        given["project.task"] = check(find_option(catalog, "project.task"), task)
    if kind is not None and kind not in KINDS:
        raise ScaffoldError(f"--kind {kind}: choose from {', '.join(KINDS)}.")
    tables = _tables(catalog, resolve(catalog, given), task, on)
    kind = kind or (None if on is None else "features")
    rows: list[str] = []
    for title, of_kind, lines in tables:
        kept = [line for line in lines if kind in (None, of_kind) and _holds(line, words)]
        if kept:
            rows += ["", title, *(row for name, text, _ in kept for row in _columns(name, text))]
    if not rows:
        raise ScaffoldError(
            f"nothing matches {' '.join(words) or 'that'}: `scaffold features` lists everything."
        )
    usage = "`scaffold explain NAME` explains one of them, and shows the lines that a feature adds."
    typer.echo("\n".join([*rows[1:], "", *_wrapped(usage, "", "")]))


_Line = tuple[tuple[str, ...], str, str]  # the columns before the text, the text, more to look in


def _tables(
    catalog: Catalog, defaults: Answers, task: str | None, on: bool | None
) -> Iterator[tuple[str, str, list[_Line]]]:
    """Title, kind and lines of each table."""
    tasks = [part for part in catalog.tasks.values() if task in (None, part.name)]
    yield "Tasks", "tasks", [_line(part) for part in tasks]
    parts = [
        feature
        for _, feature in sorted(catalog.features.items())
        if task is None or can_fit(feature, catalog.tasks[task])
    ]
    for is_default, state in ((True, "on"), (False, "off")):
        if on in (None, is_default):
            found = [_line(part) for part in parts if is_on(part, defaults) == is_default]
            yield f"Features that are {state} by default", "features", found
    recipes = [recipe for recipe in load_recipes().values() if _is_of(catalog, recipe.name, task)]
    lines: list[_Line] = [((f"{recipe.name:<30}",), recipe.help, "") for recipe in recipes]
    yield "Recipes, for `scaffold new --recipe`", "recipes", lines
    names = {part.name for part in parts}
    options = [
        option
        for option in catalog.settings.values()
        if task is None or (option.task in ("", task) and option.feature in ("", *names))
    ]
    lines = []
    for option in options:
        default = option.default if task is None else defaults[option.key]
        value = option.default_from or toml_literal(default)
        more = " ".join(package for choice in option.choices for package in choice.dependencies)
        lines.append(((f"{option.key:<42}", f"{value:<21} "), describe(option), more))
    yield "Settings, with their defaults and meaning", "settings", lines


def _line(part: Component) -> _Line:
    choices = (choice for option in part.options for choice in option.choices)
    more = [part.title, *packages(part), *(choice.value for choice in choices)]
    return (f"{part.name:<30}",), part.help, " ".join(more)


def _is_of(catalog: Catalog, recipe: str, task: str | None) -> bool:
    usual = catalog.base.option("task").default
    return task in (None, recipe_answers(catalog, recipe).get("project.task", usual))


def _holds(line: _Line, words: Sequence[str]) -> bool:
    text = " ".join([*line[0], *line[1:]]).lower()
    return all(word.lower() in text for word in words)


def _columns(columns: tuple[str, ...], text: str) -> list[str]:
    """A line of the list, broken where the terminal ends."""
    head = "  " + "".join(columns)
    width = terminal_width()
    if width is None or width - len(head) >= 30:
        return _wrapped(text, head, " " * len(head))
    return _wrapped(f"{' '.join(head.split())}: {text}", "  ", " " * 6)


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    width = terminal_width()
    if width is None:
        return [first + text]
    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    )


def explain(name: str) -> None:
    """Print the page of a task, a feature, a recipe or a setting, and the lines a feature adds.

    Raises ScaffoldError for a name that is none of them.
    """
    catalog = load_catalog()
    short = name.removeprefix("features.")
    options = catalog.settings
    if name == "accelerate":
        explain_accelerate()
    elif name == "memory":
        typer.echo(memory.__doc__, nl=False)
    elif name in catalog.tasks:
        explain_task(catalog, catalog.tasks[name])
    elif short in catalog.features:
        explain_feature(catalog, catalog.features[short])
    elif name in load_recipes():
        typer.echo(write_recipe_page(load_recipes()[name]), nl=False)
    elif option := options.get(name) or options.get(f"features.{name}"):
        typer.echo(write_option_page(catalog, option), nl=False)
    else:
        named = [option for option in options.values() if option.name == name]
        if not named:
            named = [option for option, _ in choices_named(catalog, name)]
        if len({option.key for option in named}) != 1:
            raise ScaffoldError(_unknown(catalog, name, [option.key for option in named]))
        typer.echo(write_option_page(catalog, named[0]), nl=False)


def _unknown(catalog: Catalog, name: str, near: list[str]) -> str:
    known = [*catalog.tasks, *catalog.features, *load_recipes(), *catalog.settings]
    near = near or difflib.get_close_matches(name, known, n=3) or suggest_settings(catalog, name)
    if near:
        return f"there is no {name!r} to explain: did you mean {' or '.join(near)}?"
    return (
        f"there is no {name!r} to explain: `scaffold features` lists all tasks, features, recipes "
        "and settings."
    )


def explain_task(catalog: Catalog, task: Task) -> None:
    """Print the page of a task, and the memory of its default project."""
    typer.echo(write_page(catalog, task), nl=False)
    if found := _memory(catalog, resolve(catalog, {"project.task": task.name})):
        typer.echo(f"\nMemory of the default project, as `scaffold explain memory` counts: {found}")


def _memory(catalog: Catalog, answers: Answers) -> str:
    """What training takes on each device, empty if it is not known."""
    model = know_model(catalog, answers, Path())
    found = None if model is None or isinstance(model, str) else memory.estimate(model, answers)
    return memory.tell(found) if isinstance(found, memory.Estimate) else ""


def explain_feature(catalog: Catalog, feature: Feature) -> None:
    """Print the page of a feature, and the lines that it adds."""
    typer.echo(write_page(catalog, feature, tasks=True))
    without, with_feature = without_and_with(catalog, feature)
    before_and_after = [_memory(catalog, answers) for answers in (without, with_feature)]
    if before_and_after[0] != before_and_after[1]:
        for title, found in zip(("without", "with"), before_and_after, strict=True):
            typer.echo(f"Memory {title} it, on each device: {found}\n")
    before, after = (
        render_project(catalog, answers, remember) for answers in (without, with_feature)
    )
    show_changes(
        Change(path, before.get(path), after.get(path))
        for path in sorted(before.keys() | after.keys())
        if path not in ("README.md", "scaffold.toml")
    )


def explain_accelerate() -> None:
    """Print a plain loop, the same with Accelerate, and with DistributedDataParallel by hand."""
    folder = template_root() / "walkthroughs" / "accelerate"
    scripts = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.py")}
    plain = scripts["plain.py"]
    typer.echo(
        "The same small model in three scripts: plain.py runs on one device, with_accelerate.py\n"
        "and ddp.py run on any number of processes. All three compute the same losses.\n"
    )
    typer.echo(plain)
    show_changes(
        (Change(name, plain, scripts[name]) for name in ("with_accelerate.py", "ddp.py")),
        renamed_from={"with_accelerate.py": "plain.py", "ddp.py": "plain.py"},
    )


def required(catalog: Catalog, feature: Feature) -> list[Feature]:
    """The features that a feature requires, directly or not, in the order to turn them on."""
    found: list[Feature] = []
    for name in feature.requires:
        other = catalog.features[name]
        found += [*required(catalog, other), other]
    return found


def without_and_with(catalog: Catalog, feature: Feature) -> tuple[Answers, Answers]:
    """The default answers of the first task that fits a feature, without and with it."""
    key = feature.switch_key
    usual = catalog.base.option("task").default
    for task in sorted(catalog.tasks, key=lambda task: task != usual):
        given: Answers = {"project.name": "example", "project.task": task}
        if can_fit(feature, catalog.tasks[task]):
            given |= answers_for(catalog, feature, given)
            break
    for other in required(catalog, feature):
        given[other.switch_key] = other.example
    for name in feature.conflicts:
        given[catalog.features[name].switch_key] = catalog.features[name].off
    on = resolve(catalog, {**given, key: feature.example})
    off = resolve(catalog, {**given, key: feature.off})
    return off, on
