"""The documentation, as pages: from manifests, docstrings, and the texts in `pages/`."""

import json
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from importlib import resources
from pathlib import Path
from typing import Any

from scaffold.answers.catalog import Catalog, Feature, Task
from scaffold.answers.manifests import template_root
from scaffold.answers.recipes import load_recipes
from scaffold.answers.settings import describe, toml_literal
from scaffold.cache import remember
from scaffold.commands.explain import without_and_with
from scaffold.project.changes import Change
from scaffold.project.patch import unified_diff
from scaffold.render.pages import write_page, write_recipe_page
from scaffold.render.project import render_project
from scaffold.web import guide
from scaffold.web.html import Entry, as_html, as_page, plain, relative

Text = Callable[[], str]  # writes the Markdown of a page
STATIC = ("docs.css", "docs.js")


class Docs:
    """Pages by path; each is written when it is read."""

    def __init__(self, catalog: Catalog, app: Any) -> None:
        self.catalog = catalog
        self.app = app  # the command line, with its declarations
        # beside the templates in a checkout; an installed package has none
        self.examples = template_root().parent / "generated_examples"

    def read(self, name: str) -> bytes | None:
        """A file of the documentation. None if there is none of this name."""
        if name in STATIC:
            return (resources.files("scaffold") / "web" / "static" / name).read_bytes()
        if name == "index.json":
            return json.dumps(list(self._index())).encode()
        if name in self.texts:
            entry, text = self.texts[name]
            body = as_html(text() + self._more(name), lambda target: self._link(name, target))
            return as_page(entry, body, self.entries).encode()
        picture = self.pictures.get(name)
        return picture.read_bytes() if picture else None

    def pages(self) -> Iterator[tuple[str, bytes]]:
        """All files of the documentation, by path."""
        for name in (*STATIC, "index.json", *self.texts, *self.pictures):
            content = self.read(name)
            assert content is not None
            yield name, content

    @cached_property
    def entries(self) -> list[Entry]:
        return [entry for entry, _ in self.texts.values()]

    @cached_property
    def pictures(self) -> dict[str, Path]:
        """The pictures of the examples, by path."""
        return {
            f"examples/{path.parent.parent.name}-{path.name}": path
            for path in sorted(self.examples.glob("*/result/*.png"))
        }

    @cached_property
    def texts(self) -> dict[str, tuple[Entry, Text]]:
        """Each page by its path, with what writes its Markdown."""
        parts = (self._start(), self._components(), self._examples())
        return {entry.path: (entry, write) for part in parts for entry, write in part}

    def _start(self) -> Iterator[tuple[Entry, Text]]:
        hardware = template_root() / "hardware" / "README.md"
        pages: list[tuple[str, str, Text]] = [
            ("index.html", "Start here", partial(guide.text, "index")),
            ("commands.html", "The command line", partial(guide.command_line, self.app)),
            ("settings.html", "scaffold.toml", self._settings),
            ("merge.html", "How the merge decides", guide.merge),
            ("hardware.html", "Hardware", partial(hardware.read_text, encoding="utf-8")),
        ]
        for path, title, write in pages:
            yield Entry(path, title, "Start"), write
        for name, title in guide.frameworks().items():
            entry = Entry(f"coming-from/{name}.html", title, "Coming from")
            yield entry, partial(guide.coming_from, name)

    def _components(self) -> Iterator[tuple[Entry, Text]]:
        tasks, features = self.catalog.tasks.values(), self.catalog.features.values()
        parts: list[Task | Feature] = [*tasks, *features]
        for part in sorted(parts, key=lambda p: (isinstance(p, Feature), p.title.lower())):
            section = "Features" if isinstance(part, Feature) else "Tasks"
            path = f"{section.lower()}/{part.name}.html"
            entry = Entry(path, part.title, section, part.help)
            yield entry, partial(write_page, self.catalog, part)
        for recipe in load_recipes().values():
            entry = Entry(f"recipes/{recipe.name}.html", recipe.title, "Recipes", recipe.help)
            yield entry, partial(write_recipe_page, self.catalog, recipe)

    def _examples(self) -> Iterator[tuple[Entry, Text]]:
        for run in sorted(self.examples.glob("*/result/run.json")):
            folder = run.parent.parent
            pictures = [
                path for path in self.pictures if path.startswith(f"examples/{folder.name}-")
            ]
            task = self.catalog.tasks.get(folder.name)
            title = task.title if task else folder.name.replace("_", " ").capitalize()
            entry = Entry(f"examples/{folder.name}.html", title, "Examples")
            yield entry, partial(guide.example, title, folder, pictures)

    def _more(self, name: str) -> str:
        """The lines that a feature adds: what takes long is left out of the search."""
        folder, _, stem = name.removesuffix(".html").partition("/")
        if folder != "features":
            return ""
        diff = "\n".join(self._diff(self.catalog.features[stem]))
        return f"\n## The lines that it adds\n\n```diff\n{diff}\n```\n" if diff else ""

    def _diff(self, feature: Feature) -> Iterator[str]:
        before, after = (
            render_project(self.catalog, answers, remember)
            for answers in without_and_with(self.catalog, feature)
        )
        yield from unified_diff(
            Change(path, before.get(path), after.get(path))
            for path in sorted(before.keys() | after.keys())
            if path not in ("README.md", "scaffold.toml")
        )

    def _settings(self) -> str:
        rows = ["| key | default | meaning |", "| --- | --- | --- |"]
        for key, option in self.catalog.settings.items():
            default = option.default_from or toml_literal(option.default)
            meaning = describe(option).replace("|", "\\|")
            rows.append(f"| `{key}` | `{default}` | {meaning} |")
        return guide.text("settings") + "\n" + "\n".join(rows) + "\n"

    def _index(self) -> Iterator[dict[str, str]]:
        for path, (entry, text) in self.texts.items():
            words = f"{entry.section} {entry.help} {plain(text())}"
            yield {"url": path, "title": entry.title, "text": words[:6000]}

    def _link(self, page: str, target: str) -> str | None:
        """Where a link of a text leads: to another site, or to another page of these."""
        if target.startswith(("https://", "#")):
            return target
        path, _, place = target.partition("#")
        place = f"#{place}" if place else ""
        parts = [part for part in path.split("/") if part not in (".", "..")]
        names = {
            path,
            "/".join(parts),
            "/".join(parts).replace("/README.md", ".html"),
            {"hardware/README.md": "hardware.html"}.get("/".join(parts), ""),
        }
        for name in names:
            if name in self.texts or name in self.pictures:
                return relative(name, page) + place
        return None
