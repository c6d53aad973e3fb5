import os
import signal
import subprocess
from multiprocessing import active_children
from pathlib import Path
from unittest import mock

import checkpoint
import pytest
import train
from checkpoint import find_checkpoints

#: slot tests
@pytest.fixture(autouse=True)
def interruptible(monkeypatch):
    """Ctrl-C ends pytest, and not only the run of a test."""
    monkeypatch.setattr(checkpoint, "SIGNALS", ["SIGTERM", "SIGUSR1"])


@pytest.mark.parametrize("name", ["SIGTERM", "SIGUSR1", "SIGINT"])
def test_signal_saves_and_stops(tmp_path, monkeypatch, name):
    """A run that is told to stop saves, ends with status 75, and can be resumed exactly."""
    monkeypatch.setattr(checkpoint, "SIGNALS", [name])
    number = getattr(signal, name)
    whole = run(tmp_path / "whole", checkpoint_unit="epochs", checkpoint_every=9)
    handler = signal.getsignal(number)
    with pytest.raises(SystemExit) as stop:
        signalled_run(tmp_path / "told", number)
    assert stop.value.code == 75, "a scheduler starts again what ends with 75"
    assert [path.name for path in find_checkpoints(tmp_path / "told")] == ["checkpoint_00000003"]
    changes = {"checkpoint_unit": "epochs", "checkpoint_every": 9, "resume": "newest"}
    resumed = run(tmp_path / "told", **changes)
    assert_same_files(whole, resumed, sorted(path.name for path in whole.iterdir()))
    signal.signal(number, handler)


def test_a_second_interrupt_ends_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "SIGNALS", ["SIGINT"])
    with pytest.raises(KeyboardInterrupt):
        signalled_run(tmp_path, signal.SIGINT, times=2)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert not find_checkpoints(tmp_path)


def test_signal_to_one_process_stops_all(tmp_path):
    launch(signalled_run, tmp_path)
    stopped = [path.read_text() for path in sorted(tmp_path.glob("stopped*"))]
    assert stopped == ["75", "75"], "no process may go on, or wait for one that ended"
    assert [path.name for path in find_checkpoints(tmp_path)] == ["checkpoint_00000003"]


@pytest.mark.skipif(not hasattr(signal, "sigwaitinfo"), reason="here SIGTERM ends data workers")
def test_a_signal_to_data_workers_too_saves(tmp_path):
    """A scheduler may send it to all processes of a job."""
    with pytest.raises(SystemExit) as stop:
        signalled_run(tmp_path, num_workers=1)
    assert stop.value.code == 75
    assert [path.name for path in find_checkpoints(tmp_path)] == ["checkpoint_00000003"]


def signalled_run(folder: Path, number: int = signal.SIGTERM, times: int = 1, **changes) -> None:
    """Train, and tell the last process and its data workers to stop in its third update."""
    after_update = train.Checkpoints.after_update

    def tell(checkpoints) -> None:
        last = checkpoints.accelerator.num_processes - 1
        if checkpoints.progress.update == 3 and checkpoints.accelerator.process_index == last:
            for _ in range(times):
                os.kill(os.getpid(), number)
            for worker in active_children():  # not by the process that they belong to
                subprocess.run(["kill", f"-{number:d}", str(worker.pid)], check=True)
        after_update(checkpoints)

    with mock.patch.object(train.Checkpoints, "after_update", tell):
        run(folder, checkpoint_unit="epochs", checkpoint_every=9, **changes)
