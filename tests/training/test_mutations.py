"""The proof in a project says what broke: realistic wrong edits, each caught by a failing test."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from support.files import write_files
from support.mutations import MUTATIONS, Mutation
from support.rendering import render_with_best as render
from support.training import run_tests

Proven = Callable[[str, int], None]


# in every run, with the tests that look there; the sweep has all, each with all tests
QUICK = {"mean of means": ["tests/test_evaluation.py"]}


def test_every_wrong_edit_can_be_made() -> None:
    """Each finds its line in today's templates, though only the sweep makes it."""
    gone = [
        (mutation.name, mutation.old)
        for mutation in MUTATIONS
        if mutation.old not in render(mutation.given)[mutation.file]
    ]
    assert len(MUTATIONS) >= 30 and gone == []


def prove(mutation: Mutation | None, folder: Path, tests: Sequence[str] = ()) -> str:
    """What pytest prints about a project with this edit; empty if it finds nothing wrong."""
    given = mutation.given if mutation else {}
    project = write_files(folder / "project", render(given))
    if mutation:
        path = project / mutation.file
        text = path.read_text()
        assert mutation.old in text, f"{mutation.name}: the templates have changed"
        path.write_text(text.replace(mutation.old, mutation.new))
    result = run_tests(project, *tests, "--tb=short", timeout=900)
    return result.stdout if result.returncode else ""


def assert_caught(mutation: Mutation, folder: Path, tests: Sequence[str] = ()) -> None:
    printed = prove(mutation, folder, tests)
    assert " failed" in printed, f"{mutation.name} is not caught"
    errors = "\n".join(line for line in printed.splitlines() if line.startswith("E "))
    assert re.search(mutation.says, errors), f"{mutation.name}: no test names it\n{errors}"


@pytest.mark.train
@pytest.mark.parametrize("name", QUICK)
def test_a_wrong_edit_is_named(name: str, tmp_path: Path, proven: Proven) -> None:
    [mutation] = [mutation for mutation in MUTATIONS if mutation.name == name]
    assert_caught(mutation, tmp_path, QUICK[name])
    proven("wrong edits named", 1)


@pytest.mark.sweep
@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_every_wrong_edit_is_named(mutation: Mutation, tmp_path: Path, proven: Proven) -> None:
    assert_caught(mutation, tmp_path)
    proven("wrong edits named", 1)
