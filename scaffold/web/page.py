"""What a page can ask for, as JSON in and out: the same for the local server and in a browser.

A page for a new project keeps nothing: each call holds all answers.
"""

import base64
from collections.abc import Callable, Mapping
from dataclasses import astuple
from typing import Any

from scaffold import __version__
from scaffold.answers.catalog import Catalog
from scaffold.answers.check import find_feature
from scaffold.answers.recipes import load_recipes, recipe_answers
from scaffold.answers.resolve import Answers, is_on, resolve
from scaffold.errors import ScaffoldError
from scaffold.project.origin import find_origin
from scaffold.render.format import Remember
from scaffold.render.origins import same_lines, trace
from scaffold.render.project import build_project, render_project
from scaffold.web.form import Look, Wishes, make_form, settle
from scaffold.web.pack import as_command, as_notebook, as_zip, next_commands

NAME = "my-project"
NOT_CODE = ("README.md", "scaffold.toml")  # they say what was answered

Body = Mapping[str, Any]


class Page:
    """A page for a new project. Raises ScaffoldError for what can't be done."""

    def __init__(
        self,
        catalog: Catalog,
        remember: Remember,
        look: Look | None = None,
        templates: Mapping[str, str] | None = None,
    ) -> None:
        self.catalog = catalog
        self.remember = remember
        self.look = look
        self.templates = templates  # which ones they are; None: those that are found here

    def call(self, name: str, body: Body) -> dict[str, Any]:
        """The result of one of the calls below. Raises ScaffoldError."""
        found = self.calls().get(name)
        if found is None:
            raise ScaffoldError(f"there is no call {name!r}.")
        return found(body)

    def calls(self) -> dict[str, Callable[[Body], dict[str, Any]]]:
        return {
            "start": self.start,
            "ask": self.ask,
            "render": self.render,
            "cost": self.cost,
            "origins": self.origins,
            "recipe": self.recipe,
            "zip": self.zip,
            "notebook": self.notebook,
        }

    def start(self, body: Body) -> dict[str, Any]:
        recipes = [
            {"name": recipe.name, "title": recipe.title, "help": recipe.help}
            for recipe in load_recipes().values()
        ]
        return {"version": __version__, "mode": "new", "recipes": recipes}

    def resolve(self, given: Answers) -> Answers:
        return resolve(self.catalog, {"project.name": NAME, **given})

    def wishes(self, body: Body) -> Wishes:
        texts = body.get("wishes", {})
        if not isinstance(texts, dict) or not all(isinstance(v, str) for v in texts.values()):
            raise ScaffoldError("'wishes' must be texts by key.")
        return settle(self.catalog, texts, self.resolve)

    def ask(self, body: Body) -> dict[str, Any]:
        """The questions, with what was answered."""
        return make_form(self.catalog, self.wishes(body), self.resolve, look=self.look)

    def render(self, body: Body) -> dict[str, Any]:
        """The files, and how to get them."""
        wishes = self.wishes(body)
        name = str(wishes.answers["project.name"])
        return {
            "files": render_project(self.catalog, wishes.answers, self.remember),
            "name": name,
            "command": as_command(wishes.kept, name),
            "next": next_commands(self.catalog, wishes.answers, name),
            "wrong": dict(wishes.wrong),
        }

    def origins(self, body: Body) -> dict[str, Any]:
        """Where each line of a file comes from, as the page shows it: template, line, condition.

        A line that a formatter joined has several; one that no template has, none.
        """
        file, rows = str(body.get("file")), str(body.get("text")).splitlines()
        origins: list[list[tuple[str, int, str]]] = [[] for _ in rows]
        traced = trace(self.catalog, self.wishes(body).answers, self.remember)
        if file in traced.files:
            known = traced.rows(file)
            for place, other in same_lines(rows, [line for line, _ in known]):
                origins[place] = [astuple(origin) for origin in known[other][1]]
        return {"origins": origins}

    def cost(self, body: Body) -> dict[str, Any]:
        """How many lines a feature adds to the project, or would add to it."""
        wishes = self.wishes(body)
        feature = find_feature(self.catalog, str(body.get("feature")))
        key, on = feature.switch_key, is_on(feature, wishes.answers)
        try:
            other = self.resolve({**wishes.kept, key: feature.off if on else feature.example})
        except ScaffoldError:
            return {"lines": None}
        one, two = (self._count_lines(answers) for answers in ((other, wishes.answers)))
        return {"lines": two - one if on else one - two}

    def _count_lines(self, answers: Answers) -> int:
        files = render_project(self.catalog, answers, self.remember)
        return sum(text.count("\n") for name, text in files.items() if name not in NOT_CODE)

    def recipe(self, body: Body) -> dict[str, Any]:
        """The answers of a recipe that are not defaults anyway, as texts."""
        given = recipe_answers(self.catalog, str(body.get("name")))
        first = {key: given[key] for key in ("project.task",) if key in given}
        usual = self.resolve(first)
        kept = first | {key: value for key, value in given.items() if usual[key] != value}
        wishes = Wishes(kept, self.resolve(kept))
        return {"wishes": make_form(self.catalog, wishes, self.resolve)["wishes"]}

    def files(self, body: Body) -> tuple[Wishes, dict[str, str], str]:
        """All files of a new project, and its name."""
        wishes = self.wishes(body)
        templates = find_origin().as_table() if self.templates is None else self.templates
        files = build_project(self.catalog, wishes.answers, self.remember, templates)
        return wishes, files, str(wishes.answers["project.name"])

    def zip(self, body: Body) -> dict[str, Any]:
        _, files, name = self.files(body)
        content = base64.b64encode(as_zip(files, name)).decode()
        return {"name": f"{name}.zip", "content": content}

    def notebook(self, body: Body) -> dict[str, Any]:
        wishes, files, name = self.files(body)
        text = as_notebook(self.catalog, wishes.answers, files, name)
        return {"name": f"{name}.ipynb", "content": base64.b64encode(text.encode()).decode()}
