"""The minimal loop: which tasks it serves, what a run prints and keeps, and how it grows."""

import re
import time
from pathlib import Path

import pytest

from scaffold.answers.catalog import Value
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import active_features, resolve
from scaffold.errors import AnswerError
from support.combinations import MINIMAL
from support.command_line import run_cli
from support.files import write_files
from support.rendering import render
from support.training import fail, run, start

# what an owner changes in the loop, the loss, the evaluation and the model: old and new lines
EDITS = {
    "train.py": {
        "learning_rate: float = 0.001": "learning_rate: float = 0.002",
        'labels, reduction="none")': 'labels, reduction="none", label_smoothing=0.1)',
        "accelerator.backward(loss)": "accelerator.backward(2 * loss)",
        "seen += len(labels)": "seen += len(labels)\n        print(name, seen)",
    },
    "model.py": {"channels: int = 32": "channels: int = 48"},
}


def test_it_serves_every_task_that_has_one_optimizer() -> None:
    catalog = load_catalog()
    refused = {}
    for task in catalog.tasks:
        try:
            answers = resolve(catalog, {"project.task": task, **MINIMAL})
        except AnswerError as error:
            refused[task] = str(error)
        else:
            on = [feature.name for feature in active_features(catalog, answers)]
            assert on == ["agents_md"], "the others are left off without a word"
    assert refused == {
        "gan": "project.loop: minimal needs a single model with a single optimizer, "
        "which gan does not have: use complete."
    }
    assert len(catalog.tasks) > 20


@pytest.mark.parametrize("task", ["image_classification", "tabular_regression", "sft"])
def test_nothing_in_it_is_of_the_complete_loop(task: str) -> None:
    files = render({"project.task": task, **MINIMAL})
    script = files["train.py"]
    assert script.count("model.train()") == 1 and "limit" not in script
    assert len(script.splitlines()) < 140
    packages = files["pyproject.toml"]
    assert '"tyro' in packages and '"tqdm' not in packages and '"pillow' not in packages


def test_it_grows_into_the_complete_loop_and_keeps_edits(tmp_path: Path) -> None:
    assert run_cli("new", "net", "--recipe", "minimal", "--yes", cwd=tmp_path).returncode == 0
    project = tmp_path / "net"
    for name, edits in EDITS.items():
        text = (project / name).read_text()
        for old, new in edits.items():
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        (project / name).write_text(text)
    result = run_cli("add", "checkpoints", cwd=project)
    assert result.returncode == 0, result.stdout
    settings = (project / "scaffold.toml").read_text()
    assert 'loop = "minimal"' not in settings  # the complete loop is the default
    assert settings.count("enabled = true") <= 2, "only what was asked for, and AGENTS.md"
    code = "".join(path.read_text() for path in project.glob("*.py"))  # config.py has the settings
    assert all(new in code for edits in EDITS.values() for new in edits.values())
    assert "checkpoints.resume()" in (project / "train.py").read_text()


# runs


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of the task own: 1600 samples for training, and a model without dropout."""
    given: dict[str, Value] = {"project.task": "own", **MINIMAL}
    return write_files(tmp_path_factory.mktemp("minimal"), render(given))


@pytest.mark.train
def test_each_run_has_a_folder_of_its_own(project: Path) -> None:
    """And the training loss of 2 processes is that of one: the mean over samples and processes."""
    losses = []
    for processes, batch in ((1, 40), (2, 20)):
        flags = ["--epochs", "1", "--batch-size", str(batch), "--learning-rate", "1e-12"]
        (project / "own_folder.py").write_text((project / "train.py").read_text())
        if processes > 1:
            time.sleep(1)  # a folder is named after its second
        result = run(project, "own_folder.py", *flags, processes=processes)
        [loss] = re.findall(r"^epoch 1/1 \| train_loss (\S+) \| val_loss ", result, re.M)
        losses.append(float(loss))
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    folders = sorted((project / "runs").iterdir())
    assert len(folders) == 2, "two processes use one folder"
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d", folder.name) for folder in folders)
    assert all((folder / "model.safetensors").stat().st_size for folder in folders)


@pytest.mark.train
def test_weights_of_an_earlier_run_are_not_overwritten(project: Path, tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_text("earlier")
    result = fail(project, "train.py", "--output-dir", str(tmp_path))
    assert result.strip() == f"{tmp_path} is not empty: choose another --output-dir."
    assert (tmp_path / "model.safetensors").read_text() == "earlier"


@pytest.mark.train
def test_help_shows_the_comments_of_the_settings(project: Path) -> None:
    shown = " ".join(start(project, ["train.py", "--help"]).stdout.replace("│", " ").split())
    assert "--batch-size INT samples per batch on each process (default: " in shown
