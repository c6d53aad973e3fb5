"""What the README shows is what comes out."""

import ast
import difflib
import re
import shlex
import textwrap
from pathlib import Path
from xml.etree import ElementTree

import pytest

from scaffold.answers.manifests import load_catalog
from scaffold.answers.recipes import recipe_answers
from scaffold.answers.resolve import Answers
from support.command_line import run_cli
from support.paths import REPOSITORY
from support.rendering import render

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
MINIMAL = recipe_answers(load_catalog(), "minimal")


def test_the_loops_are_those_of_the_projects() -> None:
    """The minimal one comes first; both are shown without a gap."""
    minimal, complete = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[:2]
    for shown, given in ((minimal, MINIMAL), (complete, {})):
        assert textwrap.indent(shown, "    ") in render(given)["train.py"]
        assert "optimizer.zero_grad()" in shown and len(shown.splitlines()) > 20


def test_the_minimal_project_is_as_small_as_it_says() -> None:
    files = render(MINIMAL)
    code = [text for name, text in files.items() if name.endswith(".py")]
    lines = sum(len(text.splitlines()) for text in code)
    assert len(code) == 4 and lines < 200
    assert f"train.py, model.py, data.py and a test: {lines} lines" in README


def test_its_story_is_true(tmp_path: Path) -> None:
    """The edits, the command, what it prints, and each hunk of the diff."""
    story = README[README.index("## Later") :]
    blocks = dict(re.findall(r"```(python|console|diff)\n(.*?)```", story, re.DOTALL)[:3])
    edits = blocks["python"].split("...\n")
    assert run_cli("new", "digits", "--yes", cwd=tmp_path).returncode == 0
    script = tmp_path / "digits/train.py"
    text = script.read_text()
    for edit in map(str.strip, edits):
        name = edit.split(" = ")[0]
        matches = re.findall(rf"^ +{name} = .*$", text, re.MULTILINE)
        others = ("test_loader", "list(", "sum(")  # those of other lines with such a name
        [old] = [row for row in matches if not any(word in row for word in others)]
        text = text.replace(old, old[: len(old) - len(old.lstrip())] + edit)
    script.write_text(text)
    command, *said = blocks["console"].splitlines()
    result = run_cli(*shlex.split(command)[2:], cwd=tmp_path / "digits")
    assert (result.returncode, result.stdout.splitlines()) == (0, said), result
    changed = script.read_text().splitlines()
    rows = list(difflib.unified_diff(text.splitlines(), changed, lineterm=""))
    hunks = [hunk.strip("\n").splitlines() for hunk in blocks["diff"].split("@@\n")]
    assert len(hunks) == 4
    for hunk in hunks:
        assert any(rows[at : at + len(hunk)] == hunk for at in range(len(rows))), hunk
    assert all(edit.strip() in script.read_text() for edit in edits)


def test_its_claims_about_size_hold() -> None:
    script = render({})["train.py"]
    functions = [node for node in ast.parse(script).body if isinstance(node, ast.FunctionDef)]
    [main] = [node for node in functions if node.name == "main"]
    said = README.replace("\n", " ")
    assert f"`train.py` has {len(script.splitlines())} lines, half of them in `main`" in said
    assert len(script.splitlines()) <= 170
    assert "the whole project has 693, without `predict.py` and the tests" in said
    files = {name: text for name, text in render({}).items() if re.fullmatch(r"\w+\.py", name)}
    lines = {name: len(text.splitlines()) for name, text in files.items()}
    assert lines["checkpoint.py"] <= 180 and lines["predict.py"] <= 74
    assert sum(lines.values()) - lines["predict.py"] <= 693
    assert (main.end_lineno or 0) - main.lineno + 1 <= 86


def test_its_pictures_are_there_and_small() -> None:
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", README)
    for kind in ("dialogue.svg", "curves.png", "/forecasts_", "/masks_"):
        assert any(kind in picture for picture in pictures), kind
    for picture in pictures:
        assert 1_000 < (REPOSITORY / picture).stat().st_size < 200_000, picture


def test_its_commands_exist() -> None:
    commands = re.findall(r"bash (\.ci/\w+)", README)
    assert set(commands) == {".ci/demo", ".ci/test"}
    assert all((REPOSITORY / command).is_file() for command in commands)
    for name in re.findall(r"scaffold explain (\w+)", README):
        assert name in ("NAME", "accelerate") or name in load_catalog().features


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "Accelerate.\nExpect a test accuracy of at least 0.97."),
        (
            {"training.optimizer": "sgd", "features.ema.enabled": True},
            "Accelerate.\nWith the default settings, expect a test accuracy of at least 0.97.\n"
            'This project changes `training.optimizer = "sgd"`, `training.learning_rate = 0.05`, '
            "`training.weight_decay = 0.0005` and its features.\n",
        ),
        ({"hardware.num_processes": 2}, "This project changes `hardware.num_processes = 2`.\n"),
        (MINIMAL, "Accelerate.\nExpect a test accuracy of at least 0.97."),
        (  # the data is not a difference: the result is stated for it
            {"project.task": "tabular_classification", "tabular_classification.dataset": "csv"},
            "Accelerate.\nExpect a validation accuracy that rises with each epoch.",
        ),
    ],
)
def test_the_readme_speaks_of_the_answers(given: Answers, words: str) -> None:
    assert words in render(given)["README.md"]


def test_the_picture_of_the_dialogue_shows_its_questions() -> None:
    """`python tests/dialogue.py` draws it anew."""
    name = "scaffold/web/pages/dialogue.svg"
    assert f"]({name})" in README
    texts = [text.text or "" for text in ElementTree.parse(REPOSITORY / name).iter() if text.text]
    shown, settings = " ".join(" ".join(texts).split()), load_catalog().settings
    keys = {key for key in re.findall(r"\((\w+\.\w+)\)", shown) if key in settings}
    assert len(keys) >= 6
    for key in keys:
        assert f"{settings[key].question} ({key})" in shown
    files = {text.split()[-1] for text in texts if "──" in text}
    given = render({"features.ema.enabled": True})
    assert len(files) > 15 and files <= given.keys(), files - given.keys()
    assert "Which features?" in shown and "● ema - keeps" in shown and "Next: cd ~/digits" in shown
