"""Recipes: answers that belong together, by name, as `scaffold new --recipe NAME` takes them.

A recipe is `templates/recipes/NAME.toml`: a title, a help, and the tables of a scaffold.toml.
"""

import difflib
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from scaffold.answers.catalog import Catalog
from scaffold.answers.check import check, find_option
from scaffold.answers.manifests import template_root
from scaffold.answers.read import flatten
from scaffold.answers.resolve import Answers, resolve
from scaffold.errors import AnswerError, ScaffoldError, TemplateError


@dataclass(frozen=True)
class Recipe:
    name: str
    manifest: Path
    title: str
    help: str
    tables: dict[str, Any]


@cache
def load_recipes(root: Path | None = None) -> dict[str, Recipe]:
    """All recipes by name. Raises TemplateError for one without a title or a help."""
    paths = sorted(((root or template_root()) / "recipes").glob("*.toml"))
    return {path.stem: _read(path) for path in paths}


def _read(path: Path) -> Recipe:
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        return Recipe(path.stem, path, tables.pop("title"), tables.pop("help"), tables)
    except tomllib.TOMLDecodeError as error:
        raise TemplateError(path, 1, f"is not valid TOML: {error}") from None
    except KeyError as error:
        raise TemplateError(path, 1, f"the field {error} is missing") from None


def recipe_answers(catalog: Catalog, name: str) -> Answers:
    """The answers of a recipe: features that it does not name are off.

    Raises ScaffoldError that names similar recipes.
    """
    recipes = load_recipes()
    if name not in recipes:
        near = difflib.get_close_matches(name, recipes, n=2)
        hint = (
            f"did you mean {' or '.join(near)}?"
            if near
            else f"the recipes are {', '.join(recipes)}."
        )
        raise ScaffoldError(f"there is no recipe {name!r}: {hint}")
    recipe = recipes[name]
    given: Answers = {}
    try:
        for key, value in flatten(catalog, recipe.tables):
            given[key] = check(find_option(catalog, key), value)
    except AnswerError as error:
        raise TemplateError(recipe.manifest, 1, str(error)) from None
    for feature in catalog.features.values():
        if not feature.switch:
            given.setdefault(feature.switch_key, feature.name in recipe.tables["features"])
    return given


def tasks_served(catalog: Catalog, name: str) -> Iterator[str]:
    """The tasks that a project with the answers of a recipe can have; its own, if it names one."""
    given = recipe_answers(catalog, name)
    for task in catalog.tasks:
        if given.get("project.task", task) != task:
            continue
        with suppress(AnswerError):
            resolve(catalog, {**given, "project.task": task})
            yield task
