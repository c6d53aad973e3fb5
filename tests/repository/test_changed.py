"""Which tests run: in every run, and with `pytest --changed` after a change of files."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from changed import select, sources, without_defaults
from scaffold.answers.catalog import Value
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import resolve
from scaffold.render.project import render_project
from scaffold.render.templates import active_components
from support.combinations import in_turns
from support.paths import REPOSITORY, TESTS


@dataclass
class Item:
    """A test, as far as the choice looks at it."""

    nodeid: str
    marks: set[str] = field(default_factory=set)

    @property
    def path(self) -> Path:
        return REPOSITORY / self.nodeid.partition("::")[0]

    @property
    def name(self) -> str:
        return self.nodeid.partition("::")[2]

    def add_marker(self, mark: pytest.MarkDecorator) -> None:
        self.marks.add(mark.name)

    def get_closest_marker(self, name: str) -> str | None:
        return name if name in self.marks else None


def answers(**given: object) -> list:
    named = {key.replace("__", "."): value for key, value in given.items()}
    return list(without_defaults(resolve(load_catalog(), {"project.name": "example", **named})))


FAST, DRAWN, TEXT = (
    Item(f"tests/commands/test_cli.py::test_{name}") for name in ("fast", "drawn", "text")
)
EMA, PLAIN, GAN, NEW = (Item(f"tests/tasks/test_tasks.py::test_{n}", {"train"}) for n in "abcd")
NOTED = {
    EMA.nodeid: [answers(), answers(features__ema__enabled=True)],
    PLAIN.nodeid: [answers()],
    GAN.nodeid: [answers(project__task="gan")],
    FAST.nodeid: [[]],  # no project, but it read templates
    TEXT.nodeid: [],
    DRAWN.nodeid: [answers()],
}
ALL = [FAST, DRAWN, TEXT, EMA, PLAIN, GAN, NEW]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ("templates/features/ema/callbacks.py", [FAST, EMA, NEW]),
        ("templates/features/ema/feature.toml", [FAST, DRAWN, TEXT, EMA, NEW]),
        ("templates/tasks/gan/model.py", [FAST, GAN, NEW]),
        ("templates/lib/splits.py", [FAST, DRAWN, EMA, PLAIN, NEW]),
        ("templates/lib/notes.py", [one for one in ALL if one != TEXT]),  # others take of it
        ("templates/lib/conversations.py", [FAST, NEW]),
        ("templates/base/complete/train.py", [one for one in ALL if one != TEXT]),
        ("templates/features/local_sgd/README.md", [FAST, NEW]),
        ("scaffold/merge/merge.py", ALL),
        ("tests/conftest.py", ALL),
        ("tests/support/files.py", ALL),
        ("tests/tasks/test_tasks.py", [EMA, PLAIN, GAN, NEW]),
        ("README.md", []),
        ("tests/README.md", []),
    ],
)
def test_what_a_file_affects(changed: str, expected: list[Item]) -> None:
    assert (REPOSITORY / changed).is_file()
    assert list(select(ALL, {changed}, NOTED)) == expected


def test_a_project_comes_from_what_is_on() -> None:
    answers = resolve(load_catalog(), {"project.name": "example", "project.task": "gan"})
    short = without_defaults(answers)
    assert len(short) < 20 < len(answers) and sources(short) == sources(tuple(answers.items()))
    plain, ema = (sources(tuple(rows)) for rows in NOTED[EMA.nodeid])
    assert {path.split("/")[2] for path in ema - plain} == {"ema"}
    assert all((REPOSITORY / path).is_file() for path in ema)


@pytest.mark.parametrize(
    "given", in_turns([{"features.ema.enabled": True}, {"project.task": "gan"}, {}], 3)
)
def test_a_project_follows_from_the_templates_of_what_is_on(
    templates: Path, given: dict[str, Value]
) -> None:
    """So renders are kept by these (`support/shared.py`): the others may change meanwhile."""
    catalog = load_catalog(templates)
    found = resolve(catalog, {"project.name": "example", **given})
    before = render_project(catalog, found)
    on = active_components(catalog, found)
    gone = 0
    for part in catalog.components:
        inside = any(part.folder.is_relative_to(other.folder) for other in on)
        for path in [] if inside else part.folder.rglob("*.py"):
            path.unlink()
            gone += 1
    assert gone > 100
    assert render_project(load_catalog(templates), found) == before


def test_a_new_test_moves_no_other_one_to_the_sweep(pytestconfig: pytest.Config) -> None:
    turns = pytestconfig.pluginmanager.get_plugin(str(TESTS / "conftest.py"))
    assert turns is not None
    for name, every in turns.IN_TURNS.items():
        assert len(list(TESTS.rglob(name))) == 1, f"there is no {name}"

        def left(numbers: range, file: str = f"tests/answers/{name}") -> set[str]:
            """The tests of this file that are in every run."""
            items = [Item(f"{file}::test_it[{number}]") for number in numbers]
            turns.pytest_collection_modifyitems(pytestconfig, items)
            return {item.nodeid for item in items if not item.marks}

        some, more = left(range(100, 400)), left(range(1, 400))
        assert some == more & {f"tests/answers/{name}::test_it[{n}]" for n in range(100, 400)}
        assert 0.8 < len(more) / (400 / every) < 1.2
