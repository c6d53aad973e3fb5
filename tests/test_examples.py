"""The committed examples are what is generated now."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import read_files
from examples import COMMAND, FOLDER, examples, render_example, render_examples

from scaffold.answers import is_on, read_answers, resolve
from scaffold.catalog import Catalog
from scaffold.project import build_project

LEFT_BY_TOOLS = ("__pycache__", ".pytest_cache", ".ruff_cache", "runs")


def committed(name: str) -> dict[str, str]:
    return {
        path: content.decode()
        for path, content in read_files(FOLDER / name).items()
        if not set(Path(path).parts) & set(LEFT_BY_TOOLS)
    }


def test_there_are_no_other_examples() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(examples()), f"run `{COMMAND}`"


@pytest.mark.parametrize("name", examples())
def test_an_example_is_what_is_generated(name: str) -> None:
    expected, found = render_example(name), committed(name)
    different = [path for path in sorted(expected | found) if expected.get(path) != found.get(path)]
    assert not different, f"generated_examples/{name} is out of date: run `{COMMAND}`"
    assert len(found) >= 12


@pytest.mark.parametrize("name", examples())
def test_its_own_settings_generate_it(catalog: Catalog, name: str) -> None:
    answers = resolve(catalog, read_answers(catalog, FOLDER / name / "scaffold.toml"))
    assert build_project(catalog, answers) == committed(name)


@pytest.mark.parametrize("name", examples())
def test_an_example_is_clean(name: str) -> None:
    """As its owner runs the tools: with the settings of its own pyproject.toml."""
    assert "ruff" in tomllib.loads((FOLDER / name / "pyproject.toml").read_text())["tool"]
    for tool in (["ruff", "check", "--no-cache", "."], ["black", "--check", "-q", "."]):
        command = [sys.executable, "-m", *tool]
        result = subprocess.run(command, cwd=FOLDER / name, capture_output=True, text=True)
        assert result.returncode == 0, result.stdout + result.stderr


def test_one_example_has_every_feature(catalog: Catalog) -> None:
    answers = resolve(catalog, read_answers(catalog, FOLDER / "everything" / "scaffold.toml"))
    off = [feature.name for feature in catalog.features.values() if not is_on(feature, answers)]
    assert off == []


def test_writing_them_replaces_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "default").mkdir()
    (tmp_path / "default/old.py").write_text("old\n")
    (tmp_path / "old").mkdir()
    render_examples(tmp_path)
    written = read_files(tmp_path)
    expected = {
        f"{name}/{path}": text.encode()
        for name in examples()
        for path, text in render_example(name).items()
    }
    assert written == expected
