"""`pytest tests --changed FILE ...`: only tests that a change of these files can affect.

Each test that passes notes the answers of the projects that it rendered, or trained in its folder,
in pytest's cache. Where only files of the templates changed, a test runs if one of its projects
comes from one of them. One without a project runs if it read templates or started a process, as
what that reads is not known. A test without notes runs. All run when the generator, or a manifest,
changed.
"""

import json
import re
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from scaffold.answers.catalog import Catalog, Value
from scaffold.answers.manifests import load_catalog
from scaffold.project.pristine import PRISTINE
from scaffold.render import project
from scaffold.render.conditions import Situation
from scaffold.render.templates import active_components, find_sources
from support.paths import REPOSITORY, TEMPLATES

NOTES = "scaffold/projects"  # in pytest's cache: of each test, the answers of its projects

Answers = tuple[tuple[str, Value], ...]  # those that differ from the defaults
READ: Answers = ()  # of a test that rendered nothing: it read templates, or started a process
rendered: set[Answers] = set()  # by the test, or the fixture, that is running
of_fixtures: dict[str, set[Answers]] = {}  # by those that several tests share


def watch() -> None:
    """Note each project that this process renders, and that templates are read."""
    compose = project.compose_project

    def compose_and_note(catalog: Catalog, answers: Mapping[str, Value]) -> Any:
        if catalog.root == TEMPLATES:
            rendered.add(without_defaults(answers))
        return compose(catalog, answers)

    def note(event: str, arguments: tuple) -> None:
        started = event in ("subprocess.Popen", "os.fork", "os.posix_spawn")
        path = str(arguments[0]) if event == "open" else ""
        # of manifests, the catalog is read once, by whichever test is the first
        if started or (path.startswith(str(TEMPLATES)) and not path.endswith(".toml")):
            rendered.add(READ)

    project.compose_project = compose_and_note
    sys.addaudithook(note)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef, request: pytest.FixtureRequest) -> Iterator:
    """Note what a fixture of several tests renders, as a thing of each of these."""
    before = set(rendered)
    rendered.clear()
    value = yield
    if fixturedef.scope != "function":
        of_fixtures.setdefault(fixturedef.argname, set()).update(rendered)
    rendered.update(before)
    return value


def note_projects(folder: Path) -> None:
    """Note the projects in a folder, of a test that made them with other processes."""
    for path in (folder / PRISTINE, *folder.glob(f"*/{PRISTINE}")):
        if path.is_file():
            answers = json.loads(path.read_text(encoding="utf-8"))["answers"]
            rendered.add(without_defaults(answers))


def without_defaults(answers: Mapping[str, Value]) -> Answers:
    """The answers of a project, without most of them: its task and loop are always there."""
    options = load_catalog().settings
    return tuple(
        (key, value)
        for key, value in answers.items()
        if key.startswith("project.") or key not in options or options[key].default != value
    )


def rendered_for(item: pytest.Item) -> list[Answers]:
    """The answers of the projects that a test has rendered, also by its fixtures; or READ."""
    shared = (of_fixtures.get(name, set()) for name in getattr(item, "fixturenames", ()))
    found = rendered.union(*shared)
    return sorted(found - {READ} or found)


def add_option(parser: pytest.Parser) -> None:
    parser.addoption(
        "--changed",
        nargs="*",
        metavar="FILE",
        help="only tests that a change of these files, or of those that git sees, can affect",
    )


def changed_files(config: pytest.Config) -> set[str] | None:
    """Paths below the repository; a folder stands for all in it. None: run everything."""
    given = config.getoption("--changed")
    if given is None:
        return None
    if not given:
        command = ["git", "status", "--porcelain", "--no-renames", "--untracked-files=all", "-z"]
        listed = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
        return {row[3:] for row in listed.stdout.split("\0") if row}
    paths = [Path(path).resolve() for path in given]
    for path in paths:
        if not path.is_relative_to(REPOSITORY) or not path.exists():
            raise pytest.UsageError(f"--changed: {path} is no file of this repository")
    files = (file for path in paths for file in ([path] if path.is_file() else path.rglob("*")))
    return {file.relative_to(REPOSITORY).as_posix() for file in files if file.is_file()}


def select(
    items: Collection[pytest.Item], changed: Collection[str], noted: Mapping[str, list[list]]
) -> Iterator[pytest.Item]:
    """The tests that a change of these files can affect."""
    templates = {path for path in changed if path.startswith("templates/")}
    manifests = any(path.endswith(".toml") for path in templates)
    tests = {Path(path).stem for path in changed if path.startswith("tests/")}
    helpers = any(not name.startswith("test_") and name != "README" for name in tests)
    code = any(path.startswith(("scaffold/", "pyproject.toml", ".ci/")) for path in changed)
    for item in items:
        if (
            code
            or helpers
            or Path(item.path).stem in tests
            or (
                templates
                and (
                    (manifests and not item.get_closest_marker("train"))
                    or any(
                        come_from(answers, templates) for answers in noted.get(item.nodeid, [READ])
                    )
                )
            )
        ):
            yield item


def come_from(answers: list, templates: Collection[str]) -> bool:
    return not answers or not sources(tuple(map(tuple, answers))).isdisjoint(templates)


@cache
def sources(answers: Answers) -> frozenset[str]:
    """The files of the templates that a project comes from."""
    catalog = load_catalog()
    defaults = {key: option.default for key, option in catalog.settings.items()}
    given = {**defaults, **dict(answers)}
    components = active_components(catalog, given)
    paths = {one.manifest for one in components if one.manifest.is_file()}
    paths.add(catalog.root / "tasks" / "options.toml")
    for rows in find_sources(Situation(catalog, given), components).values():
        paths |= {source.template.path for source in rows}
    paths |= {shelf for path in paths for shelf in shelves(path)}
    return frozenset(path.relative_to(REPOSITORY).as_posix() for path in paths)


@cache
def shelves(path: Path) -> frozenset[Path]:
    """The files of the library that a template imports from, and those that these import from."""
    found: set[Path] = set()
    names = re.findall(r"(?m)^from lib\.(\w+) import", path.read_text(encoding="utf-8"))
    for shelf in (TEMPLATES / "lib" / f"{name}.py" for name in names):
        found |= {shelf, *shelves(shelf)}
    return frozenset(found)
