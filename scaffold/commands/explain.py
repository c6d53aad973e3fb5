"""`scaffold explain`: what a task, a feature or a setting is, and the lines that a feature adds."""

import difflib
from pathlib import Path

import typer

from scaffold.answers.catalog import Catalog, Feature, Task
from scaffold.answers.manifests import load_catalog, template_root
from scaffold.answers.names import choices_named, suggest_settings
from scaffold.answers.recipes import load_recipes
from scaffold.answers.resolve import Answers, answers_for, can_fit, required, resolve
from scaffold.cache import remember
from scaffold.commands.screen import FRAMEWORKS, show_changes
from scaffold.eject.write import OWN
from scaffold.errors import ScaffoldError
from scaffold.machine import memory
from scaffold.machine.model import know_model
from scaffold.project.changes import Change
from scaffold.render.pages import write_option_page, write_page, write_recipe_page
from scaffold.render.project import render_project


def explain(name: str) -> None:
    """Print the page of a task, a feature, a recipe or a setting, and the lines a feature adds.

    Raises ScaffoldError for a name that is none of them.
    """
    catalog = load_catalog()
    short = name.removeprefix("features.")
    options = catalog.settings
    if name == "accelerate":
        explain_accelerate()
    elif name in FRAMEWORKS:
        explain_framework(catalog, name)
    elif name == "memory":
        typer.echo(memory.__doc__, nl=False)
    elif name in catalog.tasks:
        explain_task(catalog, catalog.tasks[name])
    elif short in catalog.features:
        explain_feature(catalog, catalog.features[short])
    elif name in load_recipes():
        typer.echo(write_recipe_page(catalog, load_recipes()[name]), nl=False)
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
    typer.echo(write_page(catalog, feature))
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


def explain_framework(catalog: Catalog, name: str) -> None:
    """Print a small script that trains with a framework, and the project that eject makes of it."""
    from scaffold.eject.build import build

    script = template_root() / "walkthroughs" / name / "script.py"
    _, _, _, files = build(catalog, script, "example", remember)
    typer.echo(
        f"A script for {FRAMEWORKS[name]}, and what `scaffold eject script.py` makes of it.\n"
    )
    shown = {"script.py": script.read_text(encoding="utf-8")}
    for path, text in (shown | {path: files[path] for path in OWN}).items():
        typer.echo(f"----- {path}\n{text}")


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
    for other_key, values in feature.excludes.items():
        option = catalog.settings[other_key]
        if given.get(other_key, option.default) in values and other_key != "project.task":
            usable = (choice.value for choice in option.choices if choice.value not in values)
            given[other_key] = next(usable, option.default)
    for name in feature.conflicts:
        given[catalog.features[name].switch_key] = catalog.features[name].off
    on = resolve(catalog, {**given, key: feature.example})
    off = resolve(catalog, {**given, key: feature.off})
    return off, on
