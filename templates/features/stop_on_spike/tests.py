from pathlib import Path
from unittest import mock

import pytest

import train
from callbacks import StopOnSpike
from helpers import launch, run
from metrics import RunningLoss

#: into tests/helpers.py
#: slot settings
"stop_on_spike_factor": 1e9,

#: into tests/test_features.py
#: slot tests
def test_a_spike_is_far_above_the_running_average():
    stop_on_spike = StopOnSpike(factor=3.0, min_reads=2)
    for loss in (1.0, 9.0, 2.0, 11.9):  # the first two only count; 3 times a mean of 4 is 12
        stop_on_spike.check(loss, 1)
    with pytest.raises(SystemExit, match="is 18 at step 7, and was 5.975 on average"):
        stop_on_spike.check(18.0, 7)
    for loss in 30 * [5.0] + [15.0]:
        stop_on_spike.check(loss, 1)
    assert stop_on_spike.average == pytest.approx(0.9 * 5.0 + 0.1 * 15.0, abs=0.05)
    stop_on_spike = StopOnSpike(factor=3.0)
    for loss in 30 * [-0.9, -0.8]:  # as of a Poisson loss
        stop_on_spike.check(loss, 1)


def test_a_spike_stops_all_processes(tmp_path):
    """The loss of one process rises: both stop when the mean is read."""
    launch(spike_run, tmp_path)
    stopped = [path.read_text() for path in sorted(tmp_path.glob("stopped*"))]
    assert len(stopped) == 2, f"{len(stopped)} of 2 processes stopped"
    assert all("on average" in reason for reason in stopped)


def spike_run(folder: Path) -> None:
    """Train until the losses of the last process are 100 times as high, after 8 steps."""
    add, step = RunningLoss.add, 0

    def add_spike(train_loss, loss, samples) -> None:
        nonlocal step
        step += 1
        spike = train_loss.accelerator.process_index == 1 and step > 8
        add(train_loss, 100 * loss if spike else loss, samples)

    with mock.patch.object(RunningLoss, "add", add_spike):
        run(folder, stop_on_spike_factor=3.0)

#: slot tests with checkpoints
def test_a_resumed_run_remembers_the_average(tmp_path, monkeypatch):
    run(tmp_path, max_steps=5)
    read = train.RunningLoss.read
    monkeypatch.setattr(train.RunningLoss, "read", lambda train_loss: 100 * read(train_loss))
    with pytest.raises(SystemExit, match="at step 6"):
        run(tmp_path, resume="newest", stop_on_spike_factor=3.0)
