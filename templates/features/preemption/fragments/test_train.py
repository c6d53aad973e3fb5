import os
import signal
from pathlib import Path
from unittest import mock

import pytest
import train
from checkpoint import find_checkpoints

#: slot tests
@pytest.mark.parametrize("name", ["SIGTERM", "SIGUSR1"])
def test_signal_saves_and_stops(tmp_path, name):
    """A run that is told to stop saves, ends with status 75, and can be resumed exactly."""
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


def test_signal_to_one_process_stops_all(tmp_path):
    launch(signalled_run, tmp_path)
    stopped = [path.read_text() for path in sorted(tmp_path.glob("stopped*"))]
    assert stopped == ["75", "75"], "no process may go on, or wait for one that ended"
    assert [path.name for path in find_checkpoints(tmp_path)] == ["checkpoint_00000003"]


def signalled_run(folder: Path, number: int = signal.SIGTERM) -> None:
    """Train, and tell the last process to stop in its third update."""
    after_update = train.Checkpoints.after_update

    def tell(checkpoints) -> None:
        last = checkpoints.accelerator.num_processes - 1
        if checkpoints.progress.update == 3 and checkpoints.accelerator.process_index == last:
            os.kill(os.getpid(), number)
        after_update(checkpoints)

    with mock.patch.object(train.Checkpoints, "after_update", tell):
        run(folder, checkpoint_unit="epochs", checkpoint_every=9)
