import shutil
from pathlib import Path
from unittest import mock

from config import find_checkpoints
from helpers import launch, run
from hooks import HOOKS
from test_resume import last_checkpoint

#: slot tests
def test_hooks_are_called_in_order(tmp_path):
    called = []
    recorders = {
        moment: [
            lambda run, moment=moment, turn=turn: called.append(moment + turn) for turn in "12"
        ]
        for moment in HOOKS
    }
    with mock.patch.dict(HOOKS, recorders):
        run(tmp_path, epochs=1)
    steps = 6 * ["step_start", "step_end"]
    moments = ["run_start", "epoch_start", *steps, "evaluation_start", "evaluation_end"]
    moments += ["epoch_end", "run_end"]
    assert called == [moment + turn for moment in moments for turn in "12"]


def test_one_process_can_stop_all(tmp_path):
    """The last one asks for a stop in step 2. All stop at the next log line, that of step 4."""
    result = launch(run_until_stop, tmp_path)
    assert result.returncode == 0, "a process continues alone"
    assert "step 4/" in result.stdout and "step 8/" not in result.stdout
    #: slot stopped_together


def run_until_stop(folder: Path) -> None:
    """Train until the last process asks for a stop in its second step."""

    def ask(run) -> None:
        last = run.accelerator.num_processes - 1
        if run.progress.step == 2 and run.accelerator.process_index == last:
            run.ask_to_stop()

    with mock.patch.dict(HOOKS, {"step_end": [ask]}):
        run(
            folder,
            log_every=4,
            #: slot stopped_run
        )

#: slot stopped_run with checkpoints
checkpoint_unit="steps",
checkpoint_every=3,

#: slot stopped_together with checkpoints
names = [path.name for path in find_checkpoints(tmp_path)]
assert names == ["checkpoint_00000003", "checkpoint_00000004"]

#: slot tests with checkpoints
def test_a_request_to_stop_is_remembered(tmp_path):
    """The request is in the checkpoint of step 3, and takes effect at the next log line."""
    run_until_stop(tmp_path)
    shutil.rmtree(last_checkpoint(tmp_path))  # of step 4, where it stopped
    changes = {"checkpoint_unit": "epochs", "log_every": 4, "max_steps": 9}
    run(tmp_path, resume="newest", **changes)
    last = last_checkpoint(tmp_path).name
    assert last == "checkpoint_00000004", "the resumed run does not stop"
    run(tmp_path, resume="newest", **changes)
    assert last_checkpoint(tmp_path).name == "checkpoint_00000009", "it stops a second time"
