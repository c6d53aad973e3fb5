from pathlib import Path
from unittest import mock

import pytest

import train
from config import find_checkpoints
from helpers import launch, run

#: slot tests
def test_nan_stops_the_run(tmp_path, monkeypatch):
    read = train.RunningLoss.read
    monkeypatch.setattr(train.RunningLoss, "read", lambda loss: read(loss) * float("nan"))
    with pytest.raises(SystemExit, match="The loss is nan at step 1: try a lower learning rate"):
        run(tmp_path)
    assert not (tmp_path / "model.safetensors").exists()

#: slot tests with checkpoints
def test_nan_stops_all_processes(tmp_path):
    """One process gets NaN: both stop, and neither saves the weights."""
    launch(nan_run, tmp_path)
    stopped = [path.read_text() for path in sorted(tmp_path.glob("stopped*"))]
    assert len(stopped) == 2, f"{len(stopped)} of 2 processes stopped where the loss is read"
    assert all("try a lower learning rate" in reason for reason in stopped)
    assert not find_checkpoints(tmp_path), "weights after NaN were saved"


def nan_run(folder: Path) -> None:
    """Train until the third loss of the last process, which is NaN like all that follow."""
    add = train.RunningLoss.add
    factors = iter([1.0, 1.0])

    def add_nan(train_loss, loss, counted) -> None:
        if train_loss.accelerator.process_index == 1:
            loss = loss * next(factors, float("nan"))
        add(train_loss, loss, counted)

    with mock.patch.object(train.RunningLoss, "add", add_nan):
        run(folder, epochs=1, checkpoint_unit="steps", checkpoint_every=3)


def test_nan_is_not_saved_before_it_is_read(tmp_path, monkeypatch):
    add = train.RunningLoss.add

    def add_nan(train_loss, loss, counted) -> None:
        add(train_loss, loss * float("nan"), counted)

    monkeypatch.setattr(train.RunningLoss, "add", add_nan)
    with pytest.raises(SystemExit, match="nan at step 1: nothing was saved"):
        run(tmp_path, log_every=99, checkpoint_unit="steps", checkpoint_every=1)
    assert not find_checkpoints(tmp_path)
