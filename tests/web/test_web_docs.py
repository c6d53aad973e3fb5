"""The documentation on the page of `scaffold web`."""

import json
import posixpath
import re
from collections.abc import Iterator
from html import unescape
from urllib.parse import unquote, urlsplit

import pytest

from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import resolve
from scaffold.cache import remember
from scaffold.cli import app
from scaffold.render.project import render_project
from scaffold.web import guide
from scaffold.web.docs import Docs

BESIDE = {"../index.html", "../icon.svg"}  # of the page that the documentation stands beside


@pytest.fixture(scope="module")
def docs() -> Docs:
    made = Docs(load_catalog(), app)
    made._more = lambda name: ""  # type: ignore[method-assign]  # diffs have no links, and take long
    return made


def targets(path: str, page: str) -> Iterator[tuple[str, str]]:
    for link in re.findall(r'\b(?:href|src)="([^"]+)"', page):
        parts = urlsplit(unescape(link))
        if parts.scheme:
            assert parts.scheme == "https", link
            continue
        there = posixpath.join(posixpath.dirname(path), unquote(parts.path)) if parts.path else path
        yield posixpath.normpath(there), parts.fragment


def test_no_link_is_dead(docs: Docs) -> None:
    content = {name: docs.read(name) or b"" for name in (*docs.texts, *docs.pictures)}
    pages = {name: text.decode() for name, text in content.items() if name.endswith(".html")}
    assert len(pages) >= 100
    followed = 0
    for name, page in pages.items():
        assert page.count("<h1") == 1, name
        for target, place in targets(name, page):
            if target in (*BESIDE, "docs.css", "docs.js"):
                continue
            assert target in content, f"{name} links to {target}"
            assert not place or f'id="{place}"' in pages[target], f"{name}: {target}#{place}"
            followed += 1
    assert followed >= 5000


def test_there_is_a_page_for_everything(docs: Docs) -> None:
    catalog = load_catalog()
    for name in catalog.tasks:
        assert catalog.tasks[name].title in (docs.read(f"tasks/{name}.html") or b"").decode()
    for name in catalog.features:
        assert f"features/{name}.html" in docs.texts
    settings = (docs.read("settings.html") or b"").decode()
    assert all(f"<code>{key}</code>" in settings for key in catalog.settings)
    commands = (docs.read("commands.html") or b"").decode()
    for command in ("new", "update", "undo", "resolve", "web"):
        assert f'id="scaffold-{command}"' in commands
    assert "--into" in commands
    index = json.loads(docs.read("index.json") or b"")
    assert {entry["url"] for entry in index} == docs.texts.keys()
    assert docs.read("../server.py") is None and docs.read("nothing.html") is None


def test_a_feature_page_shows_the_lines_that_it_adds() -> None:
    page = (Docs(load_catalog(), app).read("features/ema.html") or b"").decode()
    assert '<span class="added">+    ema = Ema(' in page


@pytest.mark.parametrize("name", ["accelerate", "lightning", "pytorch-accelerated", "transformers"])
def test_what_a_line_became_is_a_line_of_the_project(name: str) -> None:
    data = guide.read_framework(name)
    given = {"project.name": "net", **data.get("answers", {})}
    given |= {f"features.{feature}.enabled": True for feature in data.get("features", {})}
    files = render_project(load_catalog(), resolve(load_catalog(), given), remember)
    checked = 0
    for row in data["row"]:
        there = [line.strip() for line in files[row.get("file", "train.py")].splitlines()]
        for line in filter(None, map(str.strip, row["ours"].splitlines())):
            assert any(line in other for other in there), (row["title"], line)
            checked += 1
    assert checked >= 5 and name in guide.frameworks()
