import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest
import train
from checkpoint import find_checkpoints

#: slot tests
@pytest.mark.parametrize("function", ["fail_in_forward", "fail_after_evaluation", "interrupt"])
def test_an_error_loses_nothing(tmp_path, capsys, function):
    """What is saved at an error goes on exactly, whatever the error has cut off."""
    cadence = {"checkpoint_unit": "epochs", "checkpoint_every": 9}
    whole = run(tmp_path / "whole", **cadence)
    whole_log = capsys.readouterr().out
    out = run_alone(function, tmp_path / "failed")
    assert "is saved: go on with --resume" in out, out
    assert len(find_checkpoints(tmp_path / "failed")) == 1
    resumed = run(tmp_path / "failed", resume="newest", **cadence)
    assert_same_files(whole, resumed, sorted(path.name for path in whole.iterdir()))
    reports = [
        [line for line in log.splitlines() if line.startswith(("update ", "epoch "))]
        for log in (whole_log, capsys.readouterr().out)
    ]
    assert reports[1] and reports[0][-len(reports[1]) :] == reports[1]


def test_half_an_update_is_not_saved(tmp_path):
    assert "not saved: there is no whole update" in run_alone("fail_within_update", tmp_path)
    assert not find_checkpoints(tmp_path)


def test_one_of_two_processes_saves_nothing(tmp_path):
    result = launch(fail_in_forward, tmp_path)
    assert "not saved: that takes all processes" in result.stdout, result.stderr
    assert not find_checkpoints(tmp_path)


def run_alone(function: str, folder: Path) -> str:
    """Call a function of this file in a process of its own. Returns what it printed."""
    command = [sys.executable, __file__, function, str(folder)]
    result = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert "fail(folder, " in result.stderr, "the error itself must be shown"
    return result.stdout


def fail(folder: Path, owner, name: str, time: int, error: BaseException) -> None:
    """Train until a method has been called so many times."""
    method = getattr(owner, name)
    left = iter(range(time - 1))

    def failing(*arguments):
        result = method(*arguments)
        if next(left, None) is None:
            raise error
        return result

    with mock.patch.object(owner, name, failing):
        run(folder, checkpoint_unit="epochs", checkpoint_every=9)


def fail_in_forward(folder: Path) -> None:
    fail(folder, train.RunningLoss, "add", 9, InterruptedError("of the test"))


def fail_after_evaluation(folder: Path) -> None:
    fail(folder, train.Progress, "end_epoch", 1, InterruptedError("of the test"))


def fail_within_update(folder: Path) -> None:
    fail(folder, train.Checkpoints, "begin_update", 2, InterruptedError("of the test"))


def interrupt(folder: Path) -> None:
    fail(folder, train.RunningLoss, "add", 3, KeyboardInterrupt())
