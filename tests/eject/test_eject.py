"""`scaffold eject`: a project from a script of a framework, which trains the same."""

import ast
import importlib.util
import json
import os
import re
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from textwrap import indent

import pytest

from scaffold import eject as eject_package
from scaffold.answers.catalog import Value
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import resolve
from scaffold.eject.plan import RESERVED, TODO, table
from scaffold.eject.script import DEFINITIONS, IMPORTS, bound_names
from scaffold.eject.steps import MAIN
from support.command_line import Cli
from support.paths import TEMPLATES, TORCHVISION
from support.rendering import render
from support.training import start, succeed, warm_environment

SCRIPTS = {
    path.parent.name: path.read_text()
    for path in sorted((TEMPLATES / "walkthroughs").glob("*/script.py"))
}
LIGHTNING, TRANSFORMERS = SCRIPTS["lightning"], SCRIPTS["transformers"]


@pytest.fixture
def warm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What `--prove` starts has torch imported already."""
    for name, value in warm_environment(tmp_path).items():
        monkeypatch.setenv(name, value)


def write(folder: Path, text: str, name: str = "script.py") -> Path:
    path = folder / name
    path.write_text(text)
    return path


Eject = Callable[..., tuple[Path, str]]
Ejected = Callable[..., str]


@pytest.fixture
def eject(cli: Cli, tmp_path: Path) -> Eject:
    """The project of a script, in a folder of its own, and what is said."""

    def eject(text: str, code: int = 0) -> tuple[Path, str]:
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        script, project = write(folder, text), folder / "project"
        before = script.read_text()
        result = cli("eject", script, project)
        assert result.code == code, result.out + result.err
        assert script.read_text() == before
        return project, result.out + result.err

    return eject


@pytest.fixture
def ejected(eject: Eject) -> Ejected:
    """A file of the project."""
    return lambda text, name="train.py", code=0: (eject(text, code)[0] / name).read_text()


def change(old: str, new: str, text: str = LIGHTNING) -> str:
    assert old in text, old
    return text.replace(old, new)


def insert(more: str, place: str, text: str = LIGHTNING) -> str:
    """A script with more in front of something."""
    return change(place, more + place, text)


@pytest.mark.parametrize("framework", SCRIPTS)
def test_a_project_is_written(eject: Eject, cli: Cli, framework: str) -> None:
    project, output = eject(SCRIPTS[framework])
    assert f"({framework})" in output
    for path in project.rglob("*.py"):
        text = path.read_text()
        ast.parse(text)
        assert TODO not in text and "Trainer(" not in text, path
    assert "accelerator.backward(" in (project / "train.py").read_text()
    assert cli("check", project).code == 0


def test_the_step_stands_in_the_loop_as_it_was_written(eject: Eject) -> None:
    project, _ = eject(LIGHTNING)
    train, model = ((project / f"{name}.py").read_text() for name in ("train", "model"))
    assert "loss = F.mse_loss(model(x), y)  # my own loss" in train
    assert 'meters.log("train_loss", loss, samples)' in train
    assert "lr=model.hparams.lr, momentum=0.9)" in train
    assert "class Net(nn.Module):" in model and "training_step" not in model
    assert "model = Net(width=16)" in model


def test_arguments_become_answers(eject: Eject, cli: Cli) -> None:
    project, _ = eject(LIGHTNING)
    answers = json.loads((project / ".scaffold" / "pristine.json").read_text())["answers"]
    assert answers["training.epochs"] == 4 and answers["training.seed"] == 7
    assert answers["training.gradient_accumulation_steps"] == 2
    assert answers["training.batch_size"] == 8
    assert answers["features.clipping.enabled"] and answers["features.clipping.max_norm"] == 0.5
    assert cli("add", "tf32", project).code == 0, "updates work from then on"
    train = (project / "train.py").read_text()
    assert "# my own loss" in train and "tf32" in train.lower()


MORE, HOOKS = "accumulate_grad", "def configure_optimizers"
NOT_CARRIED = {  # what changes a run, and must be said
    "an argument": insert("overfit_batches=2, ", MORE),
    "an unknown argument": insert("new_thing=2, ", MORE),
    "one of transformers": insert("new_thing=2, ", "train_dataset=data", TRANSFORMERS),
    "an evaluation that is not of each epoch": insert("check_val_every_n_epoch=2, ", MORE),
    "a callback": insert("callbacks=[L.pytorch.callbacks.WeightAveraging()], ", MORE),
    "a hook": insert("def on_after_backward(self):\n        pass\n\n    ", HOOKS),
    "a metric with its name by keyword": change(
        'log("train_loss", ', 'log(name="train_loss", value='
    ),
    "the logger": insert("self.logger.x()\n        ", 'self.log("train_loss"'),
    "a hook before training": insert("def setup(self, stage):\n        pass\n\n    ", HOOKS),
    "a Trainer that is changed": insert("trainer.accumulate_grad_batches = 3\n    ", "trainer.fit"),
    "what is made with the Trainer": insert(
        "L.pytorch.tuner.Tuner(trainer).lr_find(model)\n    ", "trainer.fit"
    ),
    "a class from elsewhere": change("(L.LightningModule)", "(L.LightningModule, torch.e.Mixin)"),
    "what follows": insert("    trainer.predict(model)\n\n\n", "if __name__"),
}


@pytest.mark.parametrize("case", NOT_CARRIED)
def test_what_is_not_carried_over_is_said(eject: Eject, case: str) -> None:
    project, output = eject(NOT_CARRIED[case], code=1)
    assert "TODO(s), each in the project" in output
    texts = [path.read_text() for path in project.glob("*.py")]
    assert sum(text.count(TODO) for text in texts) == 1, output


TWO_FUNCTIONS = """def scale(x):
    return x


TWO = scale(2)


def scale(x, by=3):
    return by * x


"""
REFUSED = {  # a script, what stands in the line that stops it, what is said
    "manual optimisation": (
        insert("self.automatic_optimization = False\n        ", "self.save_hyper"),
        *("automatic_opt", "manual optimisation is not carried over"),
    ),
    "a function that is another one later": (
        insert(TWO_FUNCTIONS, "if __name__"),
        *("by=3", "scale is another one above: rename one of them"),
    ),
    "a training in a block": (
        insert("if model:\n        ", "trainer.fit"),
        *("trainer.fit", "fit is called in a block"),
    ),
    "a model from elsewhere": (
        change("Net(width=16)", "L.pytorch.demos.BoringModel()"),
        *("trainer.fit", "L.pytorch.demos.BoringModel is no class of this folder"),
    ),
    "LightningCLI": (
        re.sub(r"L\.Trainer\(.*\)", "L.pytorch.cli.LightningCLI(Net)", LIGHTNING),
        "LightningCLI",
        "what trains with LightningCLI is not found: write Trainer(...) and its fit(...)",
    ),
    "a schedule by a metric": (
        change("StepLR(optimizer, 1, gamma=0.5)", "ReduceLROnPlateau(optimizer)"),
        *("ReduceLROnPlateau", "a schedule by a metric is not carried over"),
    ),
    "a schedule with a frequency": (
        change('": scheduler}', '": {"scheduler": scheduler, "frequency": 2}}'),
        *('"frequency"', "when this schedule steps is not known"),
    ),
    "a step with two returns": (
        insert("if x.mean() > 0:\n            return 2 * loss\n        ", "return loss"),
        *("return 2", "training_step returns in several places, or imports: write one return"),
    ),
    "two optimizers": (
        change('{"optimizer": optimizer, "lr_scheduler": scheduler}', "[optimizer, optimizer]"),
        *("return [optimizer", "this is not one optimizer"),
    ),
    "an optimizer of transformers": (
        insert("optimizers=(None, None), ", "train_dataset=data", TRANSFORMERS),
        *("optimizers=", "optimizers= is not carried over"),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_can_not_be_read_is_refused_with_its_line(eject: Eject, case: str) -> None:
    text, mark, said = REFUSED[case]
    project, output = eject(text, code=2)
    rows = text.split("\n")
    line = next(number for number, row in enumerate(rows, start=1) if mark in row)
    assert f"script.py:{line}: {said}" in output and not project.exists()


TRAININGS = {  # the lines that train, the epochs of the first that does, what is said of others
    "again": ("make(1)\ntrainer.train()\ntrainer.train()", 1, ["trainer.train()"]),
    "another Trainer": (
        "make(1)\ntrainer.train()\nsecond = Trainer(model, trainer.args)\nsecond.train()",
        1,
        ["second = Trainer(model, trainer.args)", "second.train()"],
    ),
    "a Trainer that does not train": ("make(1)\nmake(2)\ntrainer.train()", 2, []),
    "another Trainer that does not": (
        "make(1)\nother = trainer\nmake(2)\ntrainer.train()",
        2,
        ["other = trainer"],
    ),
    "a function": ("def run():\n    make(1)\n    trainer.train()\n\n\nrun()", 1, []),
    "a function twice": (
        "def run(epochs):\n    make(epochs)\n    trainer.train()\n\n\nrun(1)\nrun(2)",
        1,
        ["run(2)"],
    ),
    "a function in a block": (
        "def run(epochs):\n    make(epochs)\n    trainer.train()\n\n\nif data:\n    run(1)",
        1,
        ["run(1)"],
    ),
    "another function": (
        "make(1)\ntrainer.train()\n\n\ndef again():\n    trainer.train()\n\n\nagain()",
        1,
        ["again()", "trainer.train()"],
    ),
}


@pytest.mark.parametrize("case", TRAININGS)
def test_the_first_training_is_carried_over(eject: Eject, case: str) -> None:
    code, epochs, said = TRAININGS[case]
    made = r"trainer = Trainer(model, TrainingArguments('out', num_train_epochs=\1), None, data)"
    code = re.sub(r"make\((\w+)\)", made, code)
    head = TRANSFORMERS.partition("args = ")[0]
    _, output = eject(head + code + "\n", code=bool(said))
    assert f"training.epochs = {epochs}\n" in output
    todos = output.partition("TODO(s)")[2]
    assert [line for line in said if f"    {line}\n" not in todos] == []
    assert todos.count("script.py:") == len(said)


def test_a_folder_that_exists_is_refused(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    result = cli("eject", write(tmp_path, LIGHTNING), tmp_path / "project")
    assert result.code == 2 and "exists" in result.err
    assert not list((tmp_path / "project").iterdir())


def test_files_of_the_folder_are_followed(cli: Cli, tmp_path: Path) -> None:
    place = LIGHTNING.index("def main")
    write(tmp_path, LIGHTNING[:place], "model.py")
    head = "import lightning as L\nimport torch\nfrom model import Net\n"
    head += "from torch.utils.data import DataLoader, TensorDataset\n\n\n"
    cli("eject", write(tmp_path, head + LIGHTNING[place:]), tmp_path / "project")
    assert "class Net(nn.Module):" in (tmp_path / "project" / "model.py").read_text()


def test_notebooks_are_read(cli: Cli, tmp_path: Path) -> None:
    cells = [{"cell_type": "code", "source": ["%matplotlib inline\n"]}]
    cells.append({"cell_type": "code", "source": [LIGHTNING]})
    path = tmp_path / "script.ipynb"
    path.write_text(json.dumps({"cells": cells}))
    result = cli("eject", path, tmp_path / "project")
    assert result.code == 0, result.out + result.err


def test_the_script_is_not_run(eject: Eject, tmp_path: Path) -> None:
    eject(f"{LIGHTNING}\nopen({str(tmp_path / 'ran')!r}, 'w')\n", code=1)
    assert not (tmp_path / "ran").exists()


def test_a_script_without_a_trainer_is_refused(eject: Eject) -> None:
    _, output = eject("print('hello')\n", code=2)
    assert "script.py has no Trainer" in output


def installed(name: str) -> None:
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed: pip install -e '.[benchmarks,train]'")


def names_of(package: str, code: str) -> set[str]:
    """What a piece of code binds `names` to, where the package is installed."""
    installed(package)
    command = [sys.executable, "-c", f"import inspect\n{code}\nprint(*names)"]
    environment = {**os.environ, "PYTHONPATH": str(TORCHVISION)}
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert result.returncode == 0, result.stderr
    return set(result.stdout.split("\n")[-2].split())


def test_all_arguments_of_lightning_are_in_the_table() -> None:
    code = "from lightning.pytorch import Trainer\nnames = inspect.signature(Trainer).parameters"
    names = names_of("lightning", code)
    assert len(names) > 30 and table("lightning").keys() == names


def test_all_arguments_of_transformers_are_in_the_table() -> None:
    """They are read where they are written: to import them takes a quarter of a minute."""
    installed("transformers")
    [folder] = importlib.util.find_spec("transformers").submodule_search_locations
    names, classes = set(), set()
    for path in ("training_args.py", "training_args_seq2seq.py"):
        for node in ast.parse((Path(folder) / path).read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.name.endswith("TrainingArguments"):
                classes |= {node.name, *(ast.unparse(base) for base in node.bases)}
                rows = [row for row in node.body if isinstance(row, ast.AnnAssign)]
                names |= {row.target.id for row in rows if "ClassVar" not in ast.unparse(row)}
    assert classes == {"TrainingArguments", "Seq2SeqTrainingArguments"}  # and no other base
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
@pytest.mark.usefixtures("warm")
def test_both_train_the_same(cli: Cli, tmp_path: Path, framework: str) -> None:
    installed(framework.replace("-", "_"))
    script = write(tmp_path, SCRIPTS[framework])
    result = cli("eject", script, tmp_path / "project", "--prove", "10")
    assert result.code == 0, result.out + result.err
    said = result.out + result.err
    assert "updates on the same" in said and "  it began with" not in said


# several settings of one call, two metrics that are watched, a tracker, a module method in the step
BUSY = """
import lightning as L
import torch
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
from lightning.pytorch.loggers import TensorBoardLogger
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Rows(L.LightningDataModule):
    def __init__(self, batch_size=8, workers=0):
        super().__init__()
        self.batch_size, self.workers = batch_size, workers

    def setup(self, stage=None):
        x = torch.linspace(-1, 1, 64).reshape(16, 4)
        self.rows = TensorDataset(x, x.sum(1, keepdim=True))

    def train_dataloader(self):
        return DataLoader(self.rows, self.batch_size, shuffle=True, num_workers=self.workers)

    def val_dataloader(self):
        return DataLoader(self.rows, self.batch_size)


class Net(L.LightningModule):
    def __init__(self, width=8, lr=0.1):
        super().__init__()
        self.save_hyperparameters()
        self.layers = nn.Sequential(nn.Linear(4, width), nn.Linear(width, 1))

    def errors(self, batch):
        x, y = batch
        return (self.layers(x) - y).square().mean()

    def training_step(self, batch, batch_idx):
        return self.errors(batch)

    def validation_step(self, batch, batch_idx):
        loss = self.errors(batch)
        self.log_dict({"val/loss": loss, "val/score": -loss})

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=self.hparams.lr)
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimizer, self.hparams.lr, total_steps=self.trainer.estimated_stepping_batches
        )
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


if __name__ == "__main__":
    trainer = L.Trainer(
        max_epochs=2,
        accelerator="cpu",
        devices=1,
        logger=TensorBoardLogger("logs"),
        callbacks=[
            ModelCheckpoint(monitor="val/score", mode="max"),
            EarlyStopping(monitor="val/loss", patience=3),
        ],
    )
    trainer.fit(Net(), Rows())
"""


def test_each_callback_watches_its_own_metric(ejected: Ejected) -> None:
    train = ejected(BUSY)
    assert 'best_model.update(metrics["val/score"], model)' in train
    assert 'early_stopping.update(-metrics["val/loss"])' in train
    assert "no better val/loss" in train and '"val_loss"' not in train


def test_other_metrics_keep_their_names(ejected: Ejected) -> None:
    """Also val_loss, which the templates watch, where the best model is chosen by another."""
    text = BUSY.replace("val/loss", "val_loss").replace("val/score", "val_acc")
    train = ejected(text)
    assert '"val_loss": loss, "val_acc": -loss' in train
    assert 'best_model.update(metrics["val_acc"], model)' in train
    assert 'early_stopping.update(-metrics["val_loss"])' in train


def test_the_result_of_a_training_is_not_used(eject: Eject) -> None:
    """No Trainer is made and trained when the project's files are imported."""
    text = SCRIPTS["transformers"].replace("trainer.train()", "result = trainer.train()")
    text += "metrics = result.metrics\ntrainer.save_metrics('train', metrics)\nprint(result)\n"
    text += "outputs = trainer.predict(data)\nprint(outputs)\nprint(trainer.evaluate())\n"
    project, output = eject(text, code=1)
    train = (project / "train.py").read_text()
    assert "#   print(outputs)" in train and "print(result)" not in train
    for shown in ("metrics = result.metrics", "print(result)", "print(trainer.evaluate())"):
        assert f"`{shown}` is not needed: metrics go to metrics.jsonl" in output
    assert " Trainer(" not in train and "TrainingArguments(" not in train


def test_data_that_the_training_has_set_up_is_not_used_after_it(ejected: Ejected) -> None:
    """A new module of data, as the project would make it, has no datasets yet."""
    text = change("trainer.fit(Net(), Rows())", "rows = Rows()\n    trainer.fit(Net(), rows)", BUSY)
    text += "    trainer.validate(datamodule=rows)\n    print(len(rows.rows))\n"
    train = ejected(text, code=1)
    assert "#   print(len(rows.rows))" in train and "after_training" not in train


def test_imports_are_sorted_as_ruff_wants(eject: Eject) -> None:
    """One empty line below imports before a constant, and none below a `def`."""
    text = insert("WIDTH = 16\n\n\n", "class Net").replace("Net(width=16)", "Net(WIDTH)")
    project, _ = eject(text)
    command = [sys.executable, "-m", "ruff", "check", "--select", "I", project]
    assert subprocess.run(command, capture_output=True, text=True).returncode == 0
    texts = [path.read_text() for path in project.glob("*.py")]
    assert not any(re.search(r"\ndef .*:\n\n", text) for text in texts)


def test_what_the_end_of_an_epoch_logs_is_of_that_epoch(ejected: Ejected) -> None:
    hook = 'def on_train_epoch_end(self):\n        self.log("train/score", self.score())\n\n    '
    score = "def score(self):\n        return 1.0\n\n    "
    lines = [line.strip() for line in ejected(insert(hook + score, HOOKS)).splitlines()]
    places = [
        next(number for number, line in enumerate(lines) if line.startswith(start))
        for start in (
            "metrics |= evaluate(",
            'meters.log("train/score"',
            "metrics |= meters.end()",
            "scheduler.step()",
            "metrics_file.append(progress.step, metrics)",
        )
    ]
    assert places == sorted(places), "hook, its values, schedule: as in Lightning"
    assert lines.count("metrics |= meters.end()") == 1


def test_a_schedule_has_no_lines_of_the_optimizer(ejected: Ejected) -> None:
    groups = (
        "decay = []\n        for parameter in self.parameters():\n"
        "            decay.append(parameter)\n        optimizer = torch.optim.SGD(decay, "
    )
    text = change("optimizer = torch.optim.SGD(self.parameters(), ", groups)
    before, _, schedule = ejected(text).partition("def build_scheduler(")
    assert "decay.append" in before and "decay" not in schedule.partition("\ndef ")[0]


OWN_TRAINER = """
class Own(Trainer):
    def __init__(self, classes, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.classes = classes


"""
SCHEDULE = """num_epochs=3,
    create_scheduler_fn=partial(
        torch.optim.lr_scheduler.OneCycleLR,
        max_lr=0.1,
        epochs=TrainerPlaceholderValues.NUM_EPOCHS,
        steps_per_epoch=TrainerPlaceholderValues.TRAIN_DATALOADER_LEN,
    ),"""


def test_an_own_trainer_may_take_arguments_of_its_own_first(eject: Eject) -> None:
    text = SCRIPTS["pytorch-accelerated"].replace("trainer = Trainer(", "trainer = Own(3, ")
    text = insert(OWN_TRAINER, "inputs = ", text)
    project, output = eject(text, code=1)
    assert "nn.Linear(4, 1)" in (project / "model.py").read_text()
    assert "an own Trainer's method is not carried over" in output and "1 TODO(s)" in output


def test_lengths_of_pytorch_accelerated(ejected: Ejected, eject: Eject) -> None:
    text = change("num_epochs=3,", SCHEDULE, SCRIPTS["pytorch-accelerated"])
    imports = "from functools import partial\n"
    imports += "from pytorch_accelerated.trainer import TrainerPlaceholderValues\n"
    text = insert(imports, "from torch import nn", text)
    accumulated = text.replace("num_epochs=3,", "num_epochs=3, gradient_accumulation_steps=2,")
    train = ejected(accumulated)
    length = "total_steps // config.epochs * config.gradient_accumulation_steps"
    assert f"steps_per_epoch=({length})" in train and "epochs=config.epochs" in train
    limited = text.replace("num_epochs=3,", "num_epochs=3, max_num_train_steps=9,")
    _, output = eject(limited, code=1)
    assert "set training.max_steps, and the lengths of the schedule" in output


# names that the written modules have, too: of the module, and of the steps
NAMES = """
from math import log
import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def describe(x):
    return x.float().mean()


def build_model(width):
    return nn.Sequential(nn.Linear(4, width), nn.Linear(width, 1))


def evaluate(net, x):
    return 3 * net(x)


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = build_model(8)
        self.scale = log(2)

    def forward(self, x):
        return evaluate(self.model, x)

    def training_step(self, batch, samples):
        start, progress = batch
        model = self.model
        time = self(start)
        epoch = self.current_epoch + log(1) + 0 * describe(start)
        loss = (time - progress).square().mean() + 0 * model(start).sum() + 0 * epoch
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, batch_idx):
        loader, name = batch
        meters = (self(loader) - name).square().mean()
        self.log("val_loss", meters)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


if __name__ == "__main__":
    L.seed_everything(1)
    x = torch.randn(64, 4)
    rows = TensorDataset(x, x.sum(1, keepdim=True))
    train, val = DataLoader(rows, batch_size=8, shuffle=True), DataLoader(rows, batch_size=8)
    L.Trainer(max_epochs=2, accelerator="cpu", logger=False).fit(Net(), train, val)
"""


def test_names_of_the_script_hide_none_of_the_project(eject: Eject) -> None:
    project, _ = eject(NAMES)
    train, model = ((project / f"{name}.py").read_text() for name in ("train", "model"))
    assert "time_ = model(start_)" in train and "model_ = module.model" in train
    assert "script_log(1)" in train and "script_describe(start_)" in train
    assert "self.model = script_build_model(8)" in model and "script_evaluate(self.model" in model
    assert model.count("def build_model(") == 1 and train.count("def evaluate(") == 1


@pytest.mark.train
@pytest.mark.parametrize("text", [BUSY, NAMES], ids=["busy", "names"])
def test_an_ejected_project_trains(eject: Eject, text: str) -> None:
    project, _ = eject(text)
    result = succeed(start(project, ["train.py", "--epochs", "2", "--log-every", "4"], 1))
    assert result.stdout.count("epoch ") == 2 and "val" in result.stdout


def test_all_names_of_the_written_loop_are_known() -> None:
    """A step that binds one of them becomes a function, and a global of the script another name."""
    names = "best_model early_stopping tracker stop_on_nan evaluation_by_steps clipping tf32"
    given: dict[str, Value] = {f"features.{name}.enabled": True for name in names.split()}
    given |= {"project.task": "own", "features.schedule.enabled": False}
    for steps in (1, 2):
        files = render({**given, "training.gradient_accumulation_steps": steps})
        tree = ast.parse(files["train.py"])
        [main] = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "main"]
        bound = set().union(*map(bound_names, main.body)) - {"inputs", "targets", "loss"}
        assert bound <= MAIN, bound - MAIN
        replaced = {"F", "Tensor", "AdamW", "compute_loss"}  # by what the script has
        nodes = [node for node in tree.body if isinstance(node, (*DEFINITIONS, *IMPORTS))]
        found = set().union(*map(bound_names, nodes)) - replaced
        plain = {name for name in found if name[0].islower()}
        assert len(plain) > 15 and plain <= RESERVED.keys() | {"get_available_trackers"}


def test_what_is_suggested_can_be_added() -> None:
    """`scaffold add X`, in the notes and reasons of eject, can be added to its projects."""
    catalog, found = load_catalog(), set[str]()
    for path in Path(eject_package.__file__ or "").parent.iterdir():
        if path.suffix in (".py", ".toml"):
            found |= set(re.findall(r"scaffold add ([a-z_]+)", path.read_text()))
    assert len(found) > 8
    for name in sorted(found):
        given: dict[str, Value] = {"project.task": "own", "project.name": "net"}
        resolve(catalog, {**given, catalog.features[name].switch_key: True})


def test_a_project_that_is_no_python_is_not_written(
    eject: Eject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scaffold.eject.build.fill", lambda *_: {"train.py": "def main(:\n"})
    project, output = eject(LIGHTNING, code=2)
    assert "'def main(:', which is not valid Python. Nothing is written." in output
    assert not project.exists()


CAUSAL = """
import torch
from datasets import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

rows = Dataset.from_dict({"input_ids": [[1, 2, 3, 4]] * 32, "labels": [[1, 2, 3, 4]] * 32})
model = GPT2LMHeadModel(GPT2Config(vocab_size=8, n_positions=4, n_embd=8, n_layer=1, n_head=2))


def accuracy(pred):
    return {"accuracy": float((pred.predictions.argmax(-1) == pred.label_ids).mean())}


args = TrainingArguments("out", label_names=["labels"], eval_strategy="epoch")
trainer = Trainer(model, args, train_dataset=rows, eval_dataset=rows, compute_metrics=accuracy)
trainer.train()
"""


def test_a_causal_model_has_the_mean_and_the_outputs_of_the_trainer(ejected: Ejected) -> None:
    train = ejected(CAUSAL)
    assert train.count("outputs = model(**batch, num_items_in_batch=(tokens != -100).sum())") == 2
    assert train.count("tokens = tokens if module.loss_type is None else tokens[:, 1:]") == 2
    assert '["cache", "past_key_values"]' in train
    own = "class Net(torch.nn.Module):\n    pass\n\n\nmodel = Net()\n"
    text = change(CAUSAL.split("\n")[6], own, CAUSAL)
    train = ejected(change('["labels"]', '["target"]', text))
    assert "num_items_in_batch" not in train and 'ignored = ["loss", *known]' in train
    labels = train.index('labels = tuple(batch[key] for key in ("target",))')
    assert labels < train.index("outputs = model(**batch)"), "the loss may take them out"


ACCUMULATED = change(
    '"out"', '"out", gradient_accumulation_steps=3, gradient_checkpointing=True', CAUSAL
)
TEXTS = """
import random

from datasets import Dataset
from transformers import Seq2SeqTrainer, Seq2SeqTrainingArguments
from transformers import T5Config, T5ForConditionalGeneration

rows = [[random.randint(3, 10) for _ in range(4)] + [1] for _ in range(40)]
rows = Dataset.from_dict({"input_ids": rows, "labels": rows})
sizes = dict(vocab_size=11, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2)
model = T5ForConditionalGeneration(T5Config(**sizes, decoder_start_token_id=0))


def widths(pred):
    predictions, labels = pred
    assert predictions.min() >= 0, "padded as the tokenizer pads"
    return {"width": float(predictions.shape[1]), "labels": float(labels.shape[1])}


args = Seq2SeqTrainingArguments(
    "out", eval_strategy="epoch", predict_with_generate=True, generation_max_length=7
)
trainer = Seq2SeqTrainer(model, args, train_dataset=rows, eval_dataset=rows, compute_metrics=widths)
trainer.train()
"""


@pytest.mark.train
@pytest.mark.usefixtures("warm")
def test_texts_are_generated_for_their_metrics(eject: Eject, cli: Cli, tmp_path: Path) -> None:
    installed("transformers")
    project, _ = eject(TEXTS)
    assert "module.generate(**inputs, max_length=7)" in (project / "train.py").read_text()
    result = start(project, ["train.py", "--epochs", "1"], 1)
    assert "val_width 7 | val_labels 5" in result.stdout, result.stderr
    proof = cli("eject", write(tmp_path, TEXTS), tmp_path / "other", "--prove", "4")
    assert proof.code == 0 and "  it began with" not in proof.out + proof.err


@pytest.mark.train
@pytest.mark.parametrize("takes_items", [True, False])
@pytest.mark.usefixtures("warm")
def test_each_label_of_a_step_counts_as_in_the_trainer(
    cli: Cli, tmp_path: Path, takes_items: bool
) -> None:
    """Also for a model that does not take their number: then each batch counts the same."""
    installed("transformers")
    own = f"class Net(GPT2LMHeadModel):\n    accepts_loss_kwargs = {takes_items}\n\n\nmodel = Net("
    text = change("model = GPT2LMHeadModel(", own, ACCUMULATED)
    labels = "[[-100] * (n % 4) + [5] * (4 - n % 4) for n in range(96)]}"
    text = change("[[1, 2, 3, 4]] * 32}", labels, text)
    text = change("[[1, 2, 3, 4]] * 32", "[[1, 2, 3, 4]] * 96", text)
    result = cli("eject", write(tmp_path, text), tmp_path / "project", "--prove", "4")
    said = result.out + result.err
    assert result.code == 0, said
    assert "4 updates on the same 12 batches" in said and "  it began with" not in said


def test_a_batch_size_of_the_script_is_said(eject: Eject) -> None:
    said = "batch_size: the script's own code decides it, so --batch-size has no effect"
    _, output = eject(LIGHTNING)
    assert said not in output
    text = change("DataLoader(data, batch_size=8)", "DataLoader(data, batch_size=len(data) // 8)")
    project, output = eject(text)
    assert said in output and "len(data) // 8" in (project / "data.py").read_text()


@pytest.mark.parametrize("size", ["8", "batch_size=8", "EIGHT"])
def test_a_batch_size_in_a_method_stays(eject: Eject, size: str) -> None:
    """There is no config in a module of data."""
    text = change("self.rows, self.batch_size, shuffle", f"self.rows, {size}, shuffle", BUSY)
    project, output = eject(insert("EIGHT = 8\n\n\n", "class Rows", text))
    train_loader, _ = runpy.run_path(str(project / "data.py"))["build_loaders"](None)
    assert f"self.rows, {size}, shuffle" in (project / "data.py").read_text()
    assert train_loader.batch_size == 8 and "--batch-size has no effect" in output


def test_a_batch_size_of_a_global_loader_stays(eject: Eject) -> None:
    made = "data = TensorDataset(torch.ones(64, 4), torch.ones(64, 1))\n"
    made += "loader = DataLoader(data, batch_size=8)\n\n\n"
    text = insert(made, "def main")
    text = change("DataLoader(data, batch_size=8), DataLoader(data, batch_size=8)", "loader", text)
    project, _ = eject(text)
    (loader,) = runpy.run_path(str(project / "data.py"))["build_loaders"](None)
    assert loader.batch_size == 8


ARGUMENTS = """from argparse import ArgumentParser

parser = ArgumentParser()
parser.add_argument("--width", type=int, default=4)
args = parser.parse_args()

"""
UNDEFINED = {  # framework, old text, new text, the file, its TODO and the line below
    "a star import": (
        "lightning",
        "import torch\nfrom torch import nn\n",
        "import torch\nfrom torch import nn\nfrom torch.nn import *\nTanh = Tanhshrink\n",
        "model.py",
        "# TODO: not defined here: `Tanhshrink`\nTanh = Tanhshrink\n",
    ),
    "a setting in a class": (
        "pytorch-accelerated",
        "model = nn.Linear(4, 1)\n",
        f"{ARGUMENTS}\nclass Net(nn.Linear):\n    def __init__(self):\n"
        "        super().__init__(args.width, 1)\n\n\nmodel = Net()\n",
        "model.py",
        "        # TODO: not defined here: `args`\n        super().__init__(args.width, 1)\n",
    ),
    "a setting of the loss": (
        "pytorch-accelerated",
        "trainer = Trainer(model, nn.MSELoss(),",
        f"{ARGUMENTS}trainer = Trainer(model, nn.HuberLoss(\n    delta=args.width), ",
        "train.py",
        "# TODO: not defined here: `config`\nloss_func = nn.HuberLoss(\n",
    ),
}


@pytest.mark.parametrize("case", UNDEFINED)
def test_a_name_that_is_not_defined_is_a_todo(eject: Eject, case: str) -> None:
    framework, old, new, name, todo = UNDEFINED[case]
    text = change(old, new, SCRIPTS[framework]).replace("nn.Tanh", "Tanh")
    project, output = eject(text, code=1)
    code = (project / name).read_text()
    assert todo in code and code.count(TODO) == 1
    line = code[: code.index(TODO)].count("\n") + 1
    assert f"{name}:{line}: not defined here: " in output and "1 TODO(s)" in output


def test_what_follows_the_training_knows_the_settings(ejected: Ejected) -> None:
    text = insert(ARGUMENTS, "model = nn", SCRIPTS["pytorch-accelerated"])
    train = ejected(f"{text}\ntorch.save(inputs, args.width)\n")
    assert "def after_training(model, config):" in train
    assert "    after_training(accelerator.unwrap_model(model), config)\n" in train


@pytest.mark.train
@pytest.mark.parametrize("rows", [53, 37])
def test_two_processes_evaluate_as_one(eject: Eject, rows: int) -> None:
    """Some of the samples of the second one, or all, fill up its last batch."""
    text = change("256.0).reshape(64", f"{4 * rows}.0).reshape({rows}", change("lr=0.05", "lr=0.0"))
    text = change("DataLoader(data, batch_size=8))", "DataLoader(data, batch_size=16))", text)
    size = '        self.log("val_size", x.abs().mean(), batch_size=len(y))\n'
    text = change("y))\n", f"y))\n{size}", text)
    project, _ = eject(text)
    one, two = (evaluated(project, processes) for processes in (1, 2))
    assert one == two and {"val_loss", "val_size"} <= one.keys()


@pytest.mark.train
@pytest.mark.usefixtures("warm")
def test_two_processes_evaluate_as_one_with_metrics(eject: Eject) -> None:
    installed("transformers")
    rows = "[[n % 8, n % 7, n % 5, n % 3] for n in range(27)]"
    text = CAUSAL.replace("[[1, 2, 3, 4]] * 32", rows)
    project, _ = eject(change('"out"', '"out", learning_rate=1e-12', text))
    one, two = (evaluated(project, processes) for processes in (1, 2))
    assert one == two and {"val_loss", "val_accuracy"} <= one.keys()


def evaluated(project: Path, processes: int) -> dict[str, str]:
    """The metrics at the end of a run of one epoch."""
    output = succeed(start(project, ["train.py", "--epochs", "1"], processes)).stdout
    return dict(re.findall(r" \| (\w+) (\S+)", output.splitlines()[-1]))


def test_what_several_processes_evaluate_otherwise_is_said(eject: Eject) -> None:
    said = ("torchmetrics may count samples", "computes on_validation_epoch_end of its part")
    _, output = eject(LIGHTNING)
    assert not any(words in output for words in said)
    text = insert('def on_validation_epoch_end(self):\n        self.log("max", 1.0)\n\n    ', HOOKS)
    text = insert("self.error = torchmetrics.MeanSquaredError()\n        ", "self.layers =", text)
    _, output = eject(f"import torchmetrics\n{text}")
    assert all(words in output for words in said)


def test_arguments_of_a_command_line_become_settings(eject: Eject) -> None:
    """Also those that a function gets, which is called once."""
    text = change("def main():", "def main(args):").replace("(7)", "(args.seed)")
    text = change("max_epochs=4", "max_epochs=args.epochs", text)
    parser = "    parser = ArgumentParser()\n"
    for name, default in (("epochs", 9), ("seed", 3), ("width", 5)):
        parser += f'    parser.add_argument("--{name}", type=int, default={default})\n'
    parser += "    args = parser.parse_args()\n    main(args)\n"
    text = "from argparse import ArgumentParser\n" + change("    main()\n", parser, text)
    project, output = eject(change("width=16", "width=args.width", text))
    assert "training.epochs = 9" in output and "training.seed = 3" in output
    model = (project / "model.py").read_text()
    assert "Net(width=config.width" in model and "main(" not in model and "seed" not in model
    assert "width: int = 5" in (project / "config.py").read_text()


def test_a_value_that_an_if_binds_again_is_not_known(eject: Eject) -> None:
    lines = "epochs = 4\n    if torch.cuda.is_available():\n        epochs = 8\n    trainer ="
    text = change("max_epochs=4", "max_epochs=epochs", change("trainer =", lines))
    project, output = eject(text, code=1)
    assert "its value is not known here: set training.epochs" in output
    assert "#   max_epochs=epochs" in (project / "train.py").read_text()


def test_a_collator_of_the_script_keeps_its_lines(ejected: Ejected) -> None:
    """Under another name than the one that build_loaders binds."""
    text = insert("def collate(rows):\n    return rows  # mine\n\n\n", "trainer = Tr", TRANSFORMERS)
    text = change("train_dataset=data", "train_dataset=data, data_collator=collate", text)
    data = ejected(text, "data.py")
    assert "def script_collate(rows):\n    return rows  # mine" in data
    assert "collate = script_collate\n" in data


@pytest.mark.parametrize("framework", sorted(SCRIPTS.keys() - {"lightning"}))
def test_loaders_leave_the_random_numbers_of_dropout_alone(eject: Eject, framework: str) -> None:
    """Else a resumed run is not exact. The loaders of a Lightning script stay its own."""
    project, output = eject(SCRIPTS[framework])
    data = (project / "data.py").read_text()
    assert data.count("DataLoader(") == data.count("generator=torch.Generator()") > 0
    said = "a resumed run is exact if each DataLoader has generator=torch.Generator()"
    assert said not in output and "tests/ are those of the task `own`" in output
    assert said in eject(LIGHTNING)[1]


def test_no_test_evaluates_where_the_script_does_not(eject: Eject) -> None:
    text = ACCUMULATED.replace(', eval_strategy="epoch"', "").replace("eval_dataset=rows, ", "")
    project, _ = eject(text)
    assert not (project / "tests" / "test_evaluation.py").exists()
    assert "test_evaluation" not in "".join(path.read_text() for path in project.glob("tests/*.py"))


def test_a_schedule_needs_no_checkpoints(ejected: Ejected) -> None:
    text = change("max_epochs=4", "max_epochs=4, enable_checkpointing=False")
    assert "scheduler.step()" in ejected(text)


def test_a_metric_may_count_its_samples_itself(ejected: Ejected) -> None:
    text = change("prog_bar=True", "prog_bar=True, batch_size=len(y)")
    train = ejected(text)
    assert 'meters.log("train_loss", loss, len(y))' in train


AGAIN = """
from transformers import AutoTokenizer, Trainer, TrainingArguments, build, load

tokenizer = AutoTokenizer.from_pretrained("mine")
tokenizer.padding_side = "left"


def cut(row):
    return tokenizer(row["text"])


model = build()
trainer = Trainer(model, TrainingArguments("out"), train_dataset=load().map(cut))
trainer.train()
tokenizer = AutoTokenizer.from_pretrained("trained")
"""


def test_a_name_is_what_it_was_before_the_training(ejected: Ejected) -> None:
    """Also for the functions of the data: with all that changed it, and nothing that came later."""
    above = ejected(AGAIN, "data.py").split("def cut")[0]
    assert '"mine"' in above and 'tokenizer.padding_side = "left"' in above
    assert '"trained"' not in above


def test_what_changes_a_global_model_stays(ejected: Ejected) -> None:
    """Above a main() that gets nothing."""
    text = change("    model = Net(width=16)\n", "")
    text = insert("model = Net(width=16)\nmodel.layers[0].zero_()\n\n\n", "def main", text)
    assert "model.layers[0].zero_()" in ejected(text, "model.py")


def test_a_part_stays_in_evaluation_mode(ejected: Ejected) -> None:
    """As Lightning leaves it: nothing puts the whole model into training mode."""
    assert "model.train()" in ejected(LIGHTNING)
    text = insert("self.frozen = nn.Dropout().eval()\n        ", "self.layers =")
    assert "model.train()" not in ejected(text)


def test_a_hook_of_the_data_is_said(eject: Eject) -> None:
    hook = "def on_after_batch_transfer(self, batch, index):\n        return batch\n\n"
    text = insert(f"    {hook}", "    def val_dataloader", BUSY)
    _, output = eject(text, code=1)
    assert "nothing calls this here" in output and "on_after_batch_transfer" in output


def test_columns_of_an_adapted_model_are_kept(ejected: Ejected) -> None:
    text = change("model = build()", "model = get_peft_model(build())", AGAIN)
    text = text.replace("import Auto", "import get_peft_model, Auto")
    assert "model.get_base_model().forward" in ejected(text, "data.py")


def test_the_model_is_changed_once(eject: Eject) -> None:
    """Not in build_optimizer again, which would make its weights anew."""
    text = SCRIPTS["pytorch-accelerated"]
    [made] = re.findall(r"(?m)^model = .*\n", text)
    project, _ = eject(change(made, f"{made}model.head = torch.nn.Linear(1, 1)\n", text))
    for name in ("model", "train", "data"):
        assert ("model.head" in (project / f"{name}.py").read_text()) == (name == "model")


def test_a_method_that_moves_hides_no_function_of_the_project(ejected: Ejected) -> None:
    text = change("self.errors(batch)", "self.evaluate(batch)", BUSY)
    text = change(
        "def errors(self, batch):", 'def evaluate(self, batch):\n        self.log("one", 1.0)', text
    )
    train = ejected(text)
    assert train.count("def evaluate(") == 1
    assert "loss = script_evaluate(" in train and "def script_evaluate(" in train


def test_a_definition_finds_a_name_that_had_to_change(ejected: Ejected) -> None:
    """A global `config` of the script, which its own class reads when it is made."""
    text = insert("config = {'width': 16}\n\n\n", "class Net(")
    text = change("width=16", "", change("width)", "width=config['width'])", text))
    model = ejected(text, "model.py")
    assert "script_config = {'width': 16}" in model
    assert model.index("script_config = ") < model.index("width=script_config['width']")


def test_what_a_notebook_shows_is_no_todo(eject: Eject) -> None:
    """`tokenizer("Hello")` as a cell. A call that may change the model or the data still is one."""
    shown = 'tokenizer("Hello", 1)\ndata[0].keys()\nnext(iter(data))\n'
    _, output = eject(insert(shown, "trainer = Trainer(", AGAIN))
    assert output.count("is not needed") == 3 and "`tokenizer('Hello', 1)`" in output
    layers = "layers = model.layers\nlayers[0].freeze()\n"
    _, output = eject(insert(layers, "trainer = Trainer(", AGAIN), code=1)
    assert "layers[0].freeze()" in output and "nothing in the project needs this" in output


TAIL = """
    metrics = pandas.read_csv(f"{trainer.logger.log_dir}/metrics.csv")
    del metrics["step"]
    metrics.set_index("epoch", inplace=True)
    display(metrics.dropna(axis=1, how="all").head())
    print(trainer.callback_metrics["val_loss"])
    del trainer
"""


@pytest.mark.parametrize("more, code", [("", 0), ("    keep(metrics)\n", 1)], ids=["", "kept"])
def test_what_shows_metrics_is_no_todo(eject: Eject, more: str, code: int) -> None:
    """But what a function of the script does with them is not known."""
    text = change("\n\n\nif __name__", f"{TAIL}{more}\n\nif __name__")
    text = "import pandas\n" + text.replace("def main", "def keep(x):\n    x.save()\n\n\ndef main")
    project, output = eject(text, code=code)
    assert output.count("metrics go to metrics.jsonl") >= 4
    train = (project / "train.py").read_text()
    assert "pandas" not in train and "del trainer" not in train and train.count("TODO") == code


def test_all_arguments_at_once_are_those_of_the_script(ejected: Ejected) -> None:
    text = "from argparse import ArgumentParser\n"
    text += insert(indent(ARGUMENTS.partition("\n\n")[2], "    "), "    inputs =")
    text = change("width=16", "**vars(args)", text)
    assert "Net(**dict(width=config.width))" in ejected(text, "model.py")


@pytest.mark.parametrize("others", ["", "import torch\n"])
def test_a_package_may_be_imported_several_times(eject: Eject, others: str) -> None:
    imports = f"{others}import torch.utils.data.distributed\n{others}"
    project, _ = eject(change("import torch\n", imports))
    for name in ("data.py", "train.py"):
        code = (project / name).read_text()
        assert "torch." in code and "import torch.utils.data.distributed\n" in code
        assert "script_torch" not in code
