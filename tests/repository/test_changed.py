"""`pytest --changed`: which tests a change of files can affect."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from changed import select, sources
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import resolve
from support.paths import REPOSITORY


@dataclass
class Item:
    """A test, as far as the choice looks at it."""

    nodeid: str
    marks: set[str] = field(default_factory=set)

    @property
    def path(self) -> Path:
        return REPOSITORY / self.nodeid.partition("::")[0]

    def get_closest_marker(self, name: str) -> str | None:
        return name if name in self.marks else None


def answers(**given: object) -> list:
    named = {key.replace("__", "."): value for key, value in given.items()}
    return list(resolve(load_catalog(), {"project.name": "example", **named}).items())


FAST = Item("tests/commands/test_cli.py::test_fast")
EMA, PLAIN, GAN, NEW = (Item(f"tests/tasks/test_tasks.py::test_{n}", {"train"}) for n in "abcd")
NOTED = {
    EMA.nodeid: [answers(), answers(features__ema__enabled=True)],
    PLAIN.nodeid: [answers()],
    GAN.nodeid: [answers(project__task="gan")],
    FAST.nodeid: [],
}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ("templates/features/ema/callbacks.py", [FAST, EMA, NEW]),
        ("templates/features/ema/feature.toml", [FAST, EMA, NEW]),
        ("templates/tasks/gan/model.py", [FAST, GAN, NEW]),
        ("templates/base/complete/train.py", [FAST, EMA, PLAIN, GAN, NEW]),
        ("templates/features/local_sgd/README.md", [FAST, NEW]),
        ("scaffold/merge/merge.py", [FAST, EMA, PLAIN, GAN, NEW]),
        ("tests/conftest.py", [FAST, EMA, PLAIN, GAN, NEW]),
        ("tests/support/files.py", [FAST, EMA, PLAIN, GAN, NEW]),
        ("tests/tasks/test_tasks.py", [EMA, PLAIN, GAN, NEW]),
        ("README.md", []),
        ("tests/README.md", []),
    ],
)
def test_what_a_file_affects(changed: str, expected: list[Item]) -> None:
    assert (REPOSITORY / changed).is_file()
    assert list(select([FAST, EMA, PLAIN, GAN, NEW], {changed}, NOTED)) == expected


def test_a_project_comes_from_what_is_on() -> None:
    plain, ema = (sources(tuple(rows)) for rows in NOTED[EMA.nodeid])
    assert {path.split("/")[2] for path in ema - plain} == {"ema"}
    assert all((REPOSITORY / path).is_file() for path in ema)
