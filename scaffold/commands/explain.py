"""`scaffold features` and `scaffold explain`: what there is, and what a feature adds."""

import typer

from scaffold.answers.catalog import Catalog, Component, load_catalog, template_root
from scaffold.answers.recipes import load_recipes
from scaffold.answers.schema import Answers, find_feature, fits, is_on, resolve, schema, switch_key
from scaffold.answers.settings import describe, toml_literal
from scaffold.cache import remember
from scaffold.commands.screen import show_changes
from scaffold.project.changes import Change
from scaffold.render.pages import write_page
from scaffold.render.project import render_project


def list_features() -> None:
    """Print tasks, features, recipes and all settings."""
    catalog = load_catalog()
    defaults = resolve(catalog, {"project.name": "example"})
    rows = ["Tasks"]
    rows += [f"  {task.name:<30}{task.help}" for task in catalog.tasks.values()]
    for kind, wanted in (
        ("Features that are on by default", True),
        ("Features that are off by default", False),
    ):
        rows += ["", kind]
        for _, feature in sorted(catalog.features.items()):
            if is_on(feature, defaults) == wanted:
                rows.append(f"  {feature.name:<30}{feature.help}")
    rows += ["", "Recipes, for `scaffold new --recipe`"]
    rows += [f"  {recipe.name:<30}{recipe.help}" for recipe in load_recipes().values()]
    rows += ["", "Settings, with their defaults and meaning"]
    for option in schema(catalog).values():
        value = toml_literal(option.default) if not option.default_from else option.default_from
        rows.append(f"  {option.key:<42}{value:<21} {describe(option)}")
    rows += ["", "`scaffold explain FEATURE` shows the lines that a feature adds."]
    typer.echo("\n".join(rows))


def explain_feature(name: str) -> None:
    """Print the page of a task or a feature, and the lines that a feature adds.

    Raises ScaffoldError for a name that is neither.
    """
    catalog = load_catalog()
    if name in catalog.tasks:
        typer.echo(write_page(catalog, catalog.tasks[name]), nl=False)
        return
    feature = find_feature(catalog, name)
    typer.echo(write_page(catalog, feature))
    without, with_feature = without_and_with(catalog, feature)
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


def required(catalog: Catalog, feature: Component) -> list[Component]:
    """The features that a feature requires, directly or not, in the order to turn them on."""
    found: list[Component] = []
    for name in feature.requires:
        other = catalog.features[name]
        found += [*required(catalog, other), other]
    return found


def without_and_with(catalog: Catalog, feature: Component) -> tuple[Answers, Answers]:
    """The default answers of the first task that fits a feature, without and with it."""
    key = switch_key(feature)
    usual = catalog.base.option("task").default
    for task in sorted(catalog.tasks, key=lambda task: task != usual):
        given: Answers = {"project.name": "example", "project.task": task}
        if fits(catalog, feature, given):
            break
    for other in required(catalog, feature):
        given[switch_key(other)] = other.example
    for name in feature.conflicts:
        given[switch_key(catalog.features[name])] = catalog.features[name].off
    on = resolve(catalog, {**given, key: feature.example})
    off = resolve(catalog, {**given, key: feature.off})
    return off, on
