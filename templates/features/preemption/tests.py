import os
import signal
import subprocess
from multiprocessing import active_children
from pathlib import Path
from unittest import mock

import pytest

from config import find_checkpoints
from helpers import launch, run
from preemption import StopSignals
from test_resume import assert_same_run

#: into tests/conftest.py
#: slot environment
@pytest.fixture(autouse=True)
def interruptible(monkeypatch):
    """Let Ctrl-C end pytest, not only the run in a test."""
    monkeypatch.setattr("preemption.SIGNALS", ["SIGTERM", "SIGUSR1"])

#: into tests/test_features.py
#: slot tests
CADENCE = {"checkpoint_unit": "epochs", "checkpoint_every": 9}


@pytest.mark.parametrize("name", ["SIGTERM", "SIGUSR1", "SIGINT"])
def test_signal_saves_and_stops(tmp_path, monkeypatch, name):
    """A signal makes the run save and end with status 75, and it resumes exactly."""
    monkeypatch.setattr("preemption.SIGNALS", [name])
    number = getattr(signal, name)
    run(tmp_path / "whole", **CADENCE)
    handler = signal.getsignal(number)
    with pytest.raises(SystemExit) as stop:
        signalled_run(tmp_path / "told", number)
    assert stop.value.code == 75, "a scheduler restarts a run that ends with status 75"
    assert [path.name for path in find_checkpoints(tmp_path / "told")] == ["checkpoint_00000003"]
    run(tmp_path / "told", resume="newest", **CADENCE)
    assert_same_run(tmp_path / "whole", tmp_path / "told")
    signal.signal(number, handler)


def test_a_second_interrupt_ends_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("preemption.SIGNALS", ["SIGINT"])
    with pytest.raises(KeyboardInterrupt):
        signalled_run(tmp_path, signal.SIGINT, times=2)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    #: region nothing_saved
    assert not find_checkpoints(tmp_path)
    #: end nothing_saved


def test_signal_to_one_process_stops_all(tmp_path):
    """Processes check for signals when the loss is logged: here every 2 steps."""
    launch(signalled_run_of_two, tmp_path)
    stopped = [path.read_text() for path in sorted(tmp_path.glob("stopped*"))]
    assert stopped == ["75", "75"], "no process may continue on its own"
    assert [path.name for path in find_checkpoints(tmp_path)] == ["checkpoint_00000004"]


@pytest.mark.skipif(not hasattr(signal, "sigwaitinfo"), reason="here SIGTERM ends data workers")
def test_signal_to_data_workers_saves_too(tmp_path):
    """A scheduler may send it to all processes of a job."""
    with pytest.raises(SystemExit) as stop:
        signalled_run(tmp_path, num_workers=1)
    assert stop.value.code == 75
    assert [path.name for path in find_checkpoints(tmp_path)] == ["checkpoint_00000003"]


def signalled_run(folder: Path, number: int = signal.SIGTERM, times: int = 1, **changes) -> None:
    """Send a signal to the last process and its data workers in the third step."""
    after_step = StopSignals.after_step

    def tell(stop_signals, checkpoints) -> None:
        last = checkpoints.accelerator.num_processes - 1
        if checkpoints.progress.step == 3 and checkpoints.accelerator.process_index == last:
            for _ in range(times):
                os.kill(os.getpid(), number)
            for worker in active_children():  # the sender is not the process that started them
                subprocess.run(["kill", f"-{number:d}", str(worker.pid)], check=True)
        after_step(stop_signals, checkpoints)

    with mock.patch.object(StopSignals, "after_step", tell):
        run(folder, **CADENCE, **changes)


def signalled_run_of_two(folder: Path) -> None:
    signalled_run(folder, log_every=2)
