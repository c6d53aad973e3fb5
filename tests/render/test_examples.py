"""The committed examples are what is generated now."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from examples import (
    COMMAND,
    FOLDER,
    README,
    RESULT,
    code_digest,
    examples,
    render_example,
    render_examples,
    show_result,
)
from scaffold.answers.catalog import Catalog
from scaffold.answers.manifests import load_catalog
from scaffold.answers.read import read_answers
from scaffold.answers.resolve import is_on, resolve
from scaffold.cache import remember
from scaffold.errors import AnswerError
from scaffold.render.project import build_project
from support.combinations import in_turns
from support.files import read_files, write_files

# what tools and runs leave there, and the kept results of a run
OTHERS = ("__pycache__", ".pytest_cache", ".ruff_cache", "runs", RESULT)


def committed(name: str) -> dict[str, str]:
    """The files of an example, of its README only what was generated."""
    files = {
        path: content.decode()
        for path, content in read_files(FOLDER / name).items()
        if not set(Path(path).parts) & set(OTHERS)
    }
    return {**files, README: files[README].removesuffix(show_result(FOLDER / name / RESULT))}


def test_there_are_no_other_examples() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(examples()), f"run `{COMMAND}`"


@pytest.mark.parametrize("name", examples())
def test_an_example_is_what_is_generated(name: str) -> None:
    expected, found = render_example(name, remember), committed(name)
    different = [path for path in sorted(expected | found) if expected.get(path) != found.get(path)]
    assert not different, f"generated_examples/{name} is out of date: run `{COMMAND}`"
    assert len(found) >= 10


@pytest.mark.sweep
@pytest.mark.parametrize("name", load_catalog().tasks)
def test_a_result_belongs_to_the_code_beside_it(name: str) -> None:
    run = json.loads((FOLDER / name / RESULT / "run.json").read_text())
    same = run.get("code") == code_digest(committed(name))
    assert same, f"the result is of other code: run `{COMMAND} --train {name}`"


@pytest.mark.parametrize("name", in_turns(examples(), 2))
def test_its_own_settings_generate_it(catalog: Catalog, name: str) -> None:
    answers = resolve(catalog, read_answers(catalog, FOLDER / name / "scaffold.toml"))
    assert build_project(catalog, answers, remember) == committed(name)


@pytest.mark.parametrize("name", in_turns(sorted(examples(), key="everything".__ne__), 6))
def test_black_leaves_an_example_as_it_is(name: str) -> None:
    """The templates of all others are in projects that test_matrix.py formats."""
    command = [sys.executable, "-m", "black", "--check", "-q", "."]
    result = subprocess.run(command, cwd=FOLDER / name, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_one_example_has_every_feature_that_goes_with_the_others(catalog: Catalog) -> None:
    given = read_answers(catalog, FOLDER / "everything" / "scaffold.toml")
    answers = resolve(catalog, given)
    for feature in catalog.features.values():
        if not is_on(feature, answers) and not feature.switch.startswith("hardware."):
            with pytest.raises(AnswerError):
                resolve(catalog, {**given, feature.switch_key: feature.example})


@pytest.mark.parametrize("task", load_catalog().tasks)
def test_the_example_of_a_task_shows_a_real_result(task: str) -> None:
    folder = FOLDER / task
    shown = show_result(folder / RESULT)
    assert shown and (folder / README).read_text().endswith(shown)
    run = json.loads((folder / RESULT / "run.json").read_text())
    assert run["log"][-1].startswith("done | ") and run["log"][-1] in shown
    pictures = re.findall(r"!\[.+?\]\((.+?)\)", shown)
    assert "result/curves.png" in pictures
    for path in pictures:
        assert (folder / path).read_bytes().startswith(b"\x89PNG")
        assert (folder / path).stat().st_size < 200_000


@pytest.mark.sweep
def test_writing_them_replaces_what_was_there(tmp_path: Path) -> None:
    write_files(tmp_path, {"everything/old.py": "old\n"})
    (tmp_path / "old").mkdir()
    render_examples(tmp_path)
    written = read_files(tmp_path)
    expected = {
        f"{name}/{path}": text.encode()
        for name in examples()
        for path, text in render_example(name).items()
    }
    assert written == expected


def test_a_digest_is_of_what_runs() -> None:
    """A comment or a docstring changes no result, and everything else may."""
    text = '"""Doc."""\n\n\ndef f():\n    """More.\n\n    Lines."""\n    return "# 1"  # one\n'
    digest = code_digest({"train.py": text, "tests/test_train.py": "1"})
    for old, new in (("Doc", "Other"), ("Lines", "Words"), ("one", "two"), ("# one", "")):
        assert old in text and code_digest({"train.py": text.replace(old, new)}) == digest
    assert code_digest({"train.py": text.replace("# 1", "# 2")}) != digest
    assert code_digest({"model.py": text}) != digest
