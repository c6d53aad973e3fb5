"""`scaffold features` and `scaffold explain`: what there is, and what a feature adds."""

from collections.abc import Iterator

import typer

from scaffold.answers import Answers, applies, find_feature, resolve, schema, switch_key
from scaffold.catalog import Catalog, Component, Option, load_catalog
from scaffold.changes import Change
from scaffold.diff import show_changes
from scaffold.render import render_project
from scaffold.settings import describe, toml_literal


def list_features() -> None:
    """Print tasks, features and all settings."""
    catalog = load_catalog()
    defaults = resolve(catalog, {"project.name": "example"})
    rows = ["Tasks"]
    rows += [f"  {task.name:<30}{task.help}" for task in catalog.tasks.values()]
    for kind, wanted in (("Features, on unless turned off", True), ("Features, off", False)):
        rows += ["", kind]
        for feature in catalog.features.values():
            if (defaults[switch_key(feature)] != feature.off) == wanted:
                rows.append(f"  {feature.name:<30}{feature.help}")
    rows += ["", "Settings, their defaults and what they mean"]
    for option in schema(catalog).values():
        value = toml_literal(option.default) if not option.default_from else option.default_from
        rows.append(f"  {option.key:<42}{value:<21} {describe(option)}")
    rows += ["", "`scaffold explain FEATURE` shows the lines that a feature adds."]
    typer.echo("\n".join(rows))


def explain_feature(name: str) -> None:
    """Print what a feature is, its settings, and the lines it adds. Raises ScaffoldError."""
    catalog = load_catalog()
    feature = find_feature(catalog, name)
    without, with_feature = _pair(catalog, feature)
    typer.echo(f"{feature.title}: {feature.help}.\n")
    for option in _settings(catalog, feature):
        value = toml_literal(with_feature[option.key])
        typer.echo(f"  {option.key} = {value}  # {describe(option)}")
    before, after = (render_project(catalog, answers) for answers in (without, with_feature))
    show_changes(
        Change(path, before.get(path), after.get(path))
        for path in sorted(before.keys() | after.keys())
        if path not in ("README.md", "scaffold.toml")
    )


def _pair(catalog: Catalog, feature: Component) -> tuple[Answers, Answers]:
    """The default answers, without and with the feature."""
    key = switch_key(feature)
    given: Answers = {"project.name": "example"}
    for name in feature.requires:
        given[switch_key(catalog.features[name])] = True
    on = resolve(catalog, {**given, key: feature.example})
    off = resolve(catalog, {**given, key: feature.off})
    return off, on


def _settings(catalog: Catalog, feature: Component) -> Iterator[Option]:
    options = schema(catalog)
    yield options[switch_key(feature)]
    on = _pair(catalog, feature)[1]
    for option in feature.options:
        if option.key != feature.switch and applies(catalog, option, on):
            yield option
