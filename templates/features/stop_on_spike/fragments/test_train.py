from pathlib import Path
from unittest import mock

import pytest
import train
from callbacks import StopOnSpike
from checkpoint import Progress, find_checkpoints

#: slot settings
"stop_on_spike_factor": 1e9,

#: slot tests
def test_a_spike_is_far_above_the_running_average():
    stop_on_spike = StopOnSpike(factor=3.0, min_reads=2)
    for loss in (1.0, 9.0, 2.0, 11.9):  # the first two only count; 3 times a mean of 4 is 12
        stop_on_spike.step(loss, Progress())
    with pytest.raises(SystemExit, match="is 18 at update 7, after 5.975 on average"):
        stop_on_spike.step(18.0, Progress(update=7))
    for loss in 30 * [5.0] + [15.0]:
        stop_on_spike.step(loss, Progress())
    assert stop_on_spike.average == pytest.approx(0.9 * 5.0 + 0.1 * 15.0, abs=0.05)


def test_a_spike_stops_all_processes(tmp_path):
    """One process meets it: both stop where the loss is read."""
    launch(spike_run, tmp_path)
    stopped = [path.read_text() for path in sorted(tmp_path.glob("stopped*"))]
    assert len(stopped) == 2, f"{len(stopped)} of 2 processes stopped where the loss is read"
    assert all("on average" in reason for reason in stopped)


def spike_run(folder: Path) -> None:
    """Train until the losses of the last process are 100 times as high, in the second epoch."""
    add = train.RunningLoss.add

    def add_spike(train_loss, loss, counted) -> None:
        spike = train_loss.accelerator.process_index == 1 and find_checkpoints(folder)
        add(train_loss, 100 * loss if spike else loss, counted)

    with mock.patch.object(train.RunningLoss, "add", add_spike):
        run(folder, checkpoint_unit="epochs", checkpoint_every=1, stop_on_spike_factor=3.0)


def test_a_resumed_run_remembers_the_average(tmp_path, monkeypatch):
    run(tmp_path, max_steps=5)
    read = train.RunningLoss.read
    monkeypatch.setattr(train.RunningLoss, "read", lambda train_loss: 100 * read(train_loss))
    with pytest.raises(SystemExit, match="at update 6"):
        run(tmp_path, resume="newest", stop_on_spike_factor=3.0)
