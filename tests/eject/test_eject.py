"""`scaffold eject`: a project from a script of a framework, which trains the same."""

import ast
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from scaffold.eject.arguments import table
from scaffold.eject.plan import TODO
from support.command_line import Cli, command_line
from support.paths import TEMPLATES, TORCHVISION

SCRIPTS = {
    path.parent.name: path.read_text()
    for path in sorted((TEMPLATES / "walkthroughs").glob("*/script.py"))
}
LIGHTNING = SCRIPTS["lightning"]
PACKAGES = {
    "lightning": "lightning",
    "transformers": "transformers",
    "pytorch-accelerated": "pytorch_accelerated",
}


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    return command_line(monkeypatch, capsys)


def write(folder: Path, text: str, name: str = "script.py") -> Path:
    path = folder / name
    path.write_text(dedent(text))
    return path


def eject(cli: Cli, folder: Path, text: str, code: int = 0) -> tuple[Path, str]:
    script, project = write(folder, text), folder / "project"
    before = script.read_text()
    result = cli("eject", script, project)
    assert result.code == code, result.out + result.err
    assert script.read_text() == before
    return project, result.out + result.err


def change(old: str, new: str, text: str = LIGHTNING) -> str:
    assert old in text, old
    return text.replace(old, new)


@pytest.mark.parametrize("framework", SCRIPTS)
def test_a_project_is_written(cli: Cli, tmp_path: Path, framework: str) -> None:
    project, output = eject(cli, tmp_path, SCRIPTS[framework])
    assert f"({framework})" in output
    for path in project.rglob("*.py"):
        text = path.read_text()
        ast.parse(text)
        assert TODO not in text and "Trainer(" not in text, path
    assert "accelerator.backward(" in (project / "train.py").read_text()


def test_the_step_stands_in_the_loop_as_it_was_written(cli: Cli, tmp_path: Path) -> None:
    project, _ = eject(cli, tmp_path, LIGHTNING)
    train = (project / "train.py").read_text()
    assert "loss = F.mse_loss(model(x), y)  # my own loss" in train
    assert 'meters.log("train_loss", loss, samples)' in train
    assert "lr=model.hparams.lr, momentum=0.9)" in train
    model = (project / "model.py").read_text()
    assert "class Net(nn.Module):" in model and "training_step" not in model
    assert "model = Net(width=16, lr=config.learning_rate)" in model


def test_arguments_become_answers(cli: Cli, tmp_path: Path) -> None:
    project, _ = eject(cli, tmp_path, LIGHTNING)
    answers = json.loads((project / ".scaffold" / "pristine.json").read_text())["answers"]
    assert answers["training.epochs"] == 4 and answers["training.seed"] == 7
    assert answers["training.gradient_accumulation_steps"] == 2
    assert answers["training.learning_rate"] == 0.05 and answers["training.batch_size"] == 8
    assert answers["features.clipping.enabled"] and answers["features.clipping.max_norm"] == 0.5


def test_update_and_add_work_from_then_on(cli: Cli, tmp_path: Path) -> None:
    project, _ = eject(cli, tmp_path, LIGHTNING)
    result = cli("add", "tf32", project)
    assert result.code == 0, result.out + result.err
    train = (project / "train.py").read_text()
    assert "# my own loss" in train and "tf32" in train.lower() + result.out + result.err


NOT_CARRIED = {  # what changes a run, and must be said
    "an argument": ("max_epochs=4", "max_epochs=4, overfit_batches=2"),
    "an unknown argument": ("max_epochs=4", "max_epochs=4, new_thing=2"),
    "a callback": (
        "max_epochs=4",
        "max_epochs=4, callbacks=[L.pytorch.callbacks.WeightAveraging()]",
    ),
    "a hook": (
        "def configure_optimizers",
        "def on_after_backward(self):\n        pass\n\n    def configure_optimizers",
    ),
    "the logger": (
        'self.log("train_loss"',
        'self.logger.x()\n        self.log("train_loss"',
    ),
    "a part in evaluation mode": (
        "super().__init__()",
        "super().__init__()\n        self.frozen = nn.Dropout().eval()",
    ),
    "what follows": ("if __name__", "    trainer.predict(model)\n\n\nif __name__"),
}


@pytest.mark.parametrize("case", NOT_CARRIED)
def test_what_is_not_carried_over_is_said(cli: Cli, tmp_path: Path, case: str) -> None:
    project, output = eject(cli, tmp_path, change(*NOT_CARRIED[case]), code=1)
    assert "TODO(s), each in the project" in output
    texts = [path.read_text() for path in project.glob("*.py")]
    assert sum(text.count(TODO) for text in texts) == 1, output


REFUSED = {
    "manual optimisation": ("self.save_hyperparameters()", "self.automatic_optimization = False"),
    "two trainings": ("if __name__", "    trainer.fit(model)\n\n\nif __name__"),
    "a training in a block": ("    trainer.fit", "    if model:\n        trainer.fit"),
    "a model from elsewhere": ("model = Net(width=16)", "model = L.pytorch.demos.BoringModel()"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_can_not_be_read_is_refused_with_its_line(cli: Cli, tmp_path: Path, case: str) -> None:
    project, output = eject(cli, tmp_path, change(*REFUSED[case]), code=2)
    assert "script.py:" in output and not project.exists()


def test_a_folder_that_exists_is_refused(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    _, output = eject(cli, tmp_path, LIGHTNING, code=2)
    assert "exists" in output and not list((tmp_path / "project").iterdir())


def test_files_of_the_folder_are_followed(cli: Cli, tmp_path: Path) -> None:
    text = dedent(LIGHTNING)
    place = text.index("def main")
    write(tmp_path, text[:place], "model.py")
    head = "import lightning as L\nimport torch\nfrom model import Net\n"
    head += "from torch.utils.data import DataLoader, TensorDataset\n\n\n"
    project, _ = eject(cli, tmp_path, head + text[place:])
    assert "class Net(nn.Module):" in (project / "model.py").read_text()


def test_notebooks_are_read(cli: Cli, tmp_path: Path) -> None:
    cells = [{"cell_type": "code", "source": ["%matplotlib inline\n"]}]
    cells.append({"cell_type": "code", "source": [dedent(LIGHTNING)]})
    path = tmp_path / "script.ipynb"
    path.write_text(
        json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )
    result = cli("eject", path, tmp_path / "project")
    assert result.code == 0, result.out + result.err


def test_the_script_is_not_run(cli: Cli, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    text = dedent(LIGHTNING) + f"\nopen({str(mark)!r}, 'w')\n"
    write(tmp_path, text)
    cli("eject", tmp_path / "script.py", tmp_path / "project")
    assert not mark.exists()


def test_a_script_without_a_trainer_is_refused(cli: Cli, tmp_path: Path) -> None:
    _, output = eject(cli, tmp_path, "print('hello')\n", code=2)
    assert "no Trainer" in output


ENVIRONMENT = {**os.environ, "PYTHONPATH": str(TORCHVISION)}


def installed(name: str) -> None:
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed: pip install -e '.[benchmarks,train]'")


def names_of(package: str, code: str) -> set[str]:
    """What a piece of code binds `names` to, where the package is installed."""
    installed(package)
    code = f"import dataclasses, inspect\n{code}\nprint(*names)"
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)
    assert result.returncode == 0, result.stderr
    return set(result.stdout.split("\n")[-2].split())


def test_all_arguments_of_lightning_are_in_the_table() -> None:
    code = "from lightning.pytorch import Trainer\nnames = inspect.signature(Trainer).parameters"
    names = names_of("lightning", code)
    assert len(names) > 30 and table("lightning").keys() == names


def test_all_arguments_of_transformers_are_in_the_table() -> None:
    code = "from transformers import Seq2SeqTrainingArguments as Arguments\n"
    code += "names = [field.name for field in dataclasses.fields(Arguments)]"
    names = names_of("transformers", code)
    rows = {name for name, row in table("transformers").items() if not row.get("former")}
    assert len(names) > 100 and rows == names


def test_all_arguments_of_pytorch_accelerated_are_in_the_table() -> None:
    code = "from pytorch_accelerated import Trainer\nnames = [\n    name\n"
    code += "    for f in (Trainer.__init__, Trainer.train)\n"
    code += "    for name in inspect.signature(f).parameters\n]"
    names = names_of("pytorch_accelerated", code) - {"self"}
    assert len(names) > 15 and table("accelerated").keys() == names


@pytest.mark.train
@pytest.mark.parametrize("framework", SCRIPTS)
def test_both_train_the_same(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, framework: str
) -> None:
    installed(PACKAGES[framework])
    monkeypatch.setenv("PYTHONPATH", ENVIRONMENT["PYTHONPATH"])
    script = write(tmp_path, SCRIPTS[framework])
    result = cli("eject", script, tmp_path / "project", "--prove", "10")
    assert result.code == 0, result.out + result.err
    assert (
        "updates on the same" in result.out + result.err
        and "  it began with" not in result.out + result.err
    )
