"""What the README shows is what comes out."""

import ast
import re
import textwrap

from conftest import REPOSITORY, render

from scaffold.catalog import load_catalog

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")


def test_the_loop_is_that_of_the_default_project() -> None:
    [shown] = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    script = render({})["train.py"]
    assert textwrap.indent(shown, "    ") in script
    assert len(shown.splitlines()) > 30


def test_its_claims_about_size_hold() -> None:
    script = render({})["train.py"]
    [main] = [
        node
        for node in ast.parse(script).body
        if isinstance(node, ast.FunctionDef) and node.name == "main"
    ]
    assert "fewer than 180 lines" in README.replace("\n", " ")
    assert len(script.splitlines()) < 180
    assert (main.end_lineno or 0) - main.lineno + 1 < 90


def test_its_commands_exist() -> None:
    commands = re.findall(r"bash (\.ci/\w+)", README)
    assert set(commands) == {".ci/demo", ".ci/test"}
    assert all((REPOSITORY / command).is_file() for command in commands)
    for feature in re.findall(r"scaffold explain (\w+)", README):
        assert feature in load_catalog().features
