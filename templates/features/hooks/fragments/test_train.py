from pathlib import Path
from unittest import mock

from checkpoint import find_checkpoints
from hooks import HOOKS

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


def test_a_stop_that_one_process_asks_for_ends_all(tmp_path):
    """Asked for in step 2, it comes with the next log line; a checkpoint between remembers it."""
    assert launch(stopped_run, tmp_path).returncode == 0, "no process may go on alone"
    names = [path.name for path in find_checkpoints(tmp_path)]
    assert names == ["checkpoint_00000003", "checkpoint_00000004"]


def test_a_stop_is_remembered_until_it_comes(tmp_path):
    stopped_run(tmp_path)
    changes = {"checkpoint_unit": "epochs", "log_every": 4, "max_steps": 9}
    resumed = run(tmp_path, resume=str(tmp_path / "checkpoint_00000003"), **changes)
    assert resumed.name == "checkpoint_00000004+", "the stop that was asked for did not come"
    assert run(tmp_path, resume="newest", **changes).name == "checkpoint_00000009"


def stopped_run(folder: Path) -> None:
    """Train until the last process asks for a stop in its second step."""

    def ask(run) -> None:
        last = run.accelerator.num_processes - 1
        if run.progress.update == 2 and run.accelerator.process_index == last:
            run.ask_to_stop()

    with mock.patch.dict(HOOKS, {"step_end": [ask]}):
        run(folder, log_every=4, checkpoint_unit="updates", checkpoint_every=3)
