from pathlib import Path
from unittest import mock

import pytest
import torch
from torch import nn

import train
from config import find_checkpoints
from helpers import launch, run, without_times
from metrics import RunningLoss
from save_on_error import LastStep
from test_resume import assert_same_run

#: slot tests
RARELY = {"checkpoint_unit": "epochs", "checkpoint_every": 9}


@pytest.mark.parametrize(
    ("owner", "method", "calls", "error"),
    [
        pytest.param(RunningLoss, "add", 9, InterruptedError, id="in a batch"),
        pytest.param(RunningLoss, "add", 3, KeyboardInterrupt, id="Ctrl-C"),
        #: region after_evaluation without evaluation_by_steps
        pytest.param(train, "evaluate", {{ 1 + features.first_evaluation.enabled * (1 + features.evaluation_sets.enabled) }}, InterruptedError, id="after an evaluation"),
        #: end after_evaluation
    ],
)
def test_an_error_loses_nothing(tmp_path, monkeypatch, capsys, owner, method, calls, error):
    """A run that is resumed from what was saved ends like one without the error."""
    monkeypatch.setattr(train, "build_model", build_counting(train.build_model))
    run(tmp_path / "whole", **RARELY)
    whole_log = without_times(capsys.readouterr().out)
    with pytest.raises(error):
        run_until_error(tmp_path / "failed", owner, method, calls, error)
    assert "is saved: continue with --resume" in capsys.readouterr().out
    assert len(find_checkpoints(tmp_path / "failed")) == 1
    run(tmp_path / "failed", resume="newest", **RARELY)
    assert_same_run(tmp_path / "whole", tmp_path / "failed")
    step = find_checkpoints(tmp_path / "failed")[0].name.removeprefix("checkpoint_").lstrip("0")
    tail = without_times(capsys.readouterr().out).partition(f" at step {step}\n")[2]
    assert tail and whole_log.endswith(tail), "the log of the resumed run differs"


def test_half_a_step_is_not_saved(tmp_path, capsys):
    with pytest.raises(InterruptedError):
        run_until_error(tmp_path, LastStep, "forget", 2, InterruptedError)
    assert "not saved: the error happened during a step" in capsys.readouterr().out
    assert not find_checkpoints(tmp_path)


def test_one_of_two_processes_saves_nothing(tmp_path):
    result = launch(fail_in_a_batch, tmp_path)
    assert "not saved: all processes" in result.stdout, result.stderr
    assert not find_checkpoints(tmp_path)


def fail_in_a_batch(folder: Path) -> None:
    run_until_error(folder, RunningLoss, "add", 3, InterruptedError)


def run_until_error(folder: Path, owner, name: str, calls: int, error: type) -> None:
    """Train, and raise an error after the given number of calls of a method."""
    method = getattr(owner, name)
    left = iter(range(calls - 1))

    def failing(*arguments):
        result = method(*arguments)
        if next(left, None) is None:
            raise error
        return result

    with mock.patch.object(owner, name, failing):
        run(folder, **RARELY)


def build_counting(build):
    """A model that counts its batches in a buffer, as BatchNorm does."""

    def count(module: nn.Module, *_) -> None:
        if module.training:
            module.batches += 1

    def build_and_count(config) -> nn.Module:
        model = build(config)
        model.register_buffer("batches", torch.zeros(()))
        model.register_forward_hook(count)
        return model

    return build_and_count

#: replace nothing_saved with preemption
assert [path.name for path in find_checkpoints(tmp_path)] == ["checkpoint_00000003"]
