"""What best model and early stopping may look at, and evaluation features beside each other."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from scaffold.answers.catalog import Catalog, Value
from scaffold.answers.resolve import monitored, resolve
from scaffold.errors import AnswerError
from support.files import write_files
from support.rendering import render
from support.training import run, start, without_times

MONITORS = {"best_model": ", model", "early_stopping": ""}
BY_STEPS = {"features.evaluation_by_steps.enabled": True}


@pytest.mark.parametrize("feature", MONITORS)
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, 'metrics["val_accuracy"]'),
        ({"monitor": "val_loss"}, '-metrics["val_loss"]'),
        ({"monitor": "train_loss"}, '-metrics["train_loss"]'),
        ({"monitor": "val_loss", "mode": "max"}, 'metrics["val_loss"]'),
        ({"mode": "min"}, '-metrics["val_accuracy"]'),
    ],
)
def test_the_monitored_value_is_a_plain_line(
    feature: str, given: Mapping[str, Value], expected: str
) -> None:
    answers: dict[str, Value] = {f"features.{feature}.enabled": True}
    answers |= {f"features.{feature}.{name}": value for name, value in given.items()}
    script = render(answers)["train.py"]
    assert f"{feature}.update({expected}{MONITORS[feature]})" in script


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"features.best_model.monitor": "val_f1"}, "val_accuracy, val_loss, train_loss"),
        ({"features.best_model.monitor": "accuracy"}, "is not logged"),
        ({"features.best_model.monitor": "test_loss"}, "is not logged"),
        (
            {
                "features.early_stopping.enabled": True,
                "features.early_stopping.monitor": "fit_loss",
            },
            "is not logged",
        ),
        ({"features.best_model.monitor": "val_precision"}, "is not logged"),
        ({"features.best_model.monitor": "train_loss", **BY_STEPS}, "is not logged"),
        (
            {"features.best_model.monitor": "val_precision", "features.torchmetrics.enabled": True},
            "features.best_model.mode: it is not known whether a higher val_precision is better",
        ),
    ],
)
def test_what_is_not_logged_is_refused(
    catalog: Catalog, given: Mapping[str, Value], message: str
) -> None:
    with pytest.raises(AnswerError) as refused:
        resolve(catalog, {"project.name": "example", **given})
    assert message in str(refused.value)


def test_what_features_log_is_allowed(catalog: Catalog) -> None:
    given: dict[str, Value] = {
        "project.name": "example",
        "features.torchmetrics.enabled": True,
        "features.best_model.monitor": "val_recall",
        "features.best_model.mode": "max",
        "features.evaluation_sets.enabled": True,
        "features.early_stopping.enabled": True,
        "features.early_stopping.monitor": "fit_loss",
    }
    answers = resolve(catalog, given)
    found = [monitored(catalog, catalog.features[name], answers) for name in MONITORS]
    assert found == [("val_recall", True), ("fit_loss", False)]


def test_every_task_has_a_value_to_monitor(catalog: Catalog) -> None:
    for task in catalog.tasks:
        answers = resolve(catalog, {"project.name": "example", "project.task": task})
        if answers["features.best_model.enabled"]:
            name, _ = monitored(catalog, catalog.features["best_model"], answers)
            assert f'metrics["{name}"]' in render({"project.task": task})["train.py"]


# --- trained -----------------------------------------------------------------------------------


@pytest.mark.train
def test_trackers_are_known_to_accelerate(catalog: Catalog) -> None:
    from accelerate.utils import LoggerType

    choices = catalog.features["tracker"].option("kind").choices
    assert {choice.value for choice in choices} <= set(LoggerType.list())
    assert len(choices) >= 6


WITHOUT_PACKAGE = """
import importlib, sys
sys.modules |= {sys.argv[1]: None, "tensorboardX": None}  # as if it were not installed
import accelerate.tracking
importlib.reload(accelerate.tracking)
import train
train.main(train.Config(epochs=1, limit_batches=1))
"""


@pytest.mark.train
@pytest.mark.parametrize("kind", ["tensorboard", "wandb", "mlflow", "trackio", "aim", "dvclive"])
def test_a_missing_tracker_is_refused_before_training(
    kind: str, catalog: Catalog, tmp_path: Path
) -> None:
    assert kind in {choice.value for choice in catalog.features["tracker"].option("kind").choices}
    given: dict[str, Value] = {"features.tracker.enabled": True, "features.tracker.kind": kind}
    project = write_files(tmp_path / "project", render(given))
    result = start(project, ["-c", WITHOUT_PACKAGE, kind])
    assert result.returncode == 1 and result.stdout == ""
    assert result.stderr == f"The tracker needs a package: pip install {kind}\n"
    assert not (project / "runs").exists()


@pytest.mark.train
def test_early_stopping_leaves_an_epoch(tmp_path: Path) -> None:
    """Where evaluations are inside of epochs, it does not wait for the end of one."""
    given = {
        **BY_STEPS,
        "features.evaluation_by_steps.every": 3,
        "features.early_stopping.enabled": True,
        "features.early_stopping.patience": 2,
        "features.early_stopping.min_delta": 1e9,  # nothing is an improvement
        "features.schedule.enabled": False,
    }
    project = write_files(tmp_path / "project", render(given))
    for processes in (1, 2):
        script = ["train.py", "--limit-batches", "20", "--output-dir", f"runs/{processes}"]
        result = run(project, *script, processes=processes)
        evaluated = re.findall(r"^evaluated step (\d+)", result, re.MULTILINE)
        assert evaluated == ["3", "6", "9"], "the first is the best, and two are not better"
        assert "early stop: 2 evaluations, no better val_accuracy" in result


@pytest.mark.every_run
@pytest.mark.train
def test_torchmetrics_in_the_loop_and_as_a_callback(tmp_path: Path) -> None:
    """The same lines in the log, on 1 and on 2 processes."""
    seen = []
    for processes in (1, 2):
        logs = []
        for place in ("loop", "callback"):
            given = {"features.torchmetrics.place": place, "features.evaluation_sets.enabled": True}
            project = write_files(tmp_path / f"{place}{processes}", render(given))
            script = ["train.py", "--epochs", "2", "--limit-batches", "3", "--seed", "1"]
            log = without_times(run(project, *script, processes=processes))
            logs.append([set(line.split(" | ")) for line in log.splitlines()])
        assert logs[0] == logs[1]
        seen += [part for parts in logs[0] for part in parts]
    for name in ("val", "fit", "test"):
        assert sum(part.startswith(f"{name}_precision") for part in seen) >= 2
