"""What comes after training, one command after the other, as the page of each task shows them."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from scaffold.answers.manifests import load_catalog
from scaffold.render.pages import write_page
from support.combinations import often
from support.command_line import run_cli
from support.inputs import prepare_inputs, use_card
from support.training import last_tested, read_report, start

pytestmark = pytest.mark.train

OFTEN = {"image_classification", "own", "tabular_regression"}  # in every run
SHORT = ["--epochs", "1", "--max-steps", "4"]


def commands_of(task: str) -> list[str]:
    page = write_page(load_catalog(), load_catalog().tasks[task])
    [block] = re.findall("```sh\n(scaffold new .*?)```", page, re.DOTALL)
    return [line.partition("   #")[0] for line in block.splitlines()]


@pytest.mark.parametrize("task", often(load_catalog().tasks, OFTEN))
def test_the_commands_follow_each_other(task: str, tmp_path: Path) -> None:
    """Train, evaluate, predict on a user's files, export and load, and share, in a new folder."""
    new, move, *commands = commands_of(task)
    made = run_cli(*shlex.split(new)[1:], cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    folder = tmp_path / move.removeprefix("cd ")
    prepare_inputs(task, folder)

    def run(command: str) -> str:
        """What a line prints. Its `cd` is done here, and training is short."""
        where, command = folder, command.removesuffix(" && cd ..")
        if command.startswith("cd "):
            inside, _, command = command.removeprefix("cd ").partition(" && ")
            where = folder / inside
        python, *arguments = shlex.split(command.partition(" > ")[0])
        assert python == "python"
        more = SHORT if arguments == ["train.py"] else []
        result = start(where, [*arguments, *more])
        assert result.returncode == 0, f"{command}: {result.stderr[-2000:]}"
        return result.stdout

    train, evaluate, predict, export, load, share = commands
    run(train)
    [output] = (folder / "runs").iterdir()
    output.rename(folder / "runs/latest")
    tested = last_tested(folder)
    run(evaluate)
    measured = read_report(folder)
    assert tested and {name: measured[name]["value"] for name in tested} == tested
    printed = run(predict).splitlines()
    assert len(printed) >= (3 if " > " in predict else 1), "rows of two inputs, below their names"
    assert task not in ("gan", "diffusion") or len(list(folder.glob("generated/*.png"))) == 16
    run(export)
    assert "(" in run(load), "a module"
    run(share)
    card = (folder / "shared/README.md").read_text()
    assert all(name in card for name in tested)
    shutil.move(folder / "shared", tmp_path / "elsewhere")
    shutil.rmtree(folder)
    assert use_card(tmp_path / "elsewhere", task), "others use it without the project"
