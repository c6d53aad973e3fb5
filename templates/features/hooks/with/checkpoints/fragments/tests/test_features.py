from checkpoint import find_checkpoints
from helpers import run
from test_resume import last_checkpoint

#: slot stopped_run
checkpoint_unit="steps",
checkpoint_every=3,

#: slot stopped_together
names = [path.name for path in find_checkpoints(tmp_path)]
assert names == ["checkpoint_00000003", "checkpoint_00000004"]

#: slot tests
def test_a_request_to_stop_is_remembered(tmp_path):
    """The request is in the checkpoint of step 3, and takes effect at the next log line."""
    run_until_stop(tmp_path)
    changes = {"checkpoint_unit": "epochs", "log_every": 4, "max_steps": 9}
    run(tmp_path, resume=str(tmp_path / "checkpoint_00000003"), **changes)
    last = last_checkpoint(tmp_path).name
    assert last == "checkpoint_00000004", "the resumed run does not stop"
    run(tmp_path, resume="newest", **changes)
    assert last_checkpoint(tmp_path).name == "checkpoint_00000009", "it stops a second time"
