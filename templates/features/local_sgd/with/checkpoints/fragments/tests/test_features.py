from pathlib import Path
from checkpoint import find_checkpoints
from helpers import launch
from test_resume import assert_same_file

#: slot tests
def test_resume_is_exact_on_two_processes(tmp_path):
    """A checkpoint between two averaging steps averages too."""
    launch(saved_local_run, tmp_path)
    (tmp_path / "checkpoint_00000006").rename(tmp_path / "whole")
    launch(saved_local_run, tmp_path)
    resumed = find_checkpoints(tmp_path)[-1]
    assert resumed.name == "checkpoint_00000006"
    for name in ("model.safetensors", "optimizer.bin"):
        assert_same_file(tmp_path / "whole" / name, resumed / name)


def saved_local_run(folder: Path) -> None:
    """Train with a checkpoint after the fourth step, or resume that."""
    resume = "newest" if find_checkpoints(folder) else ""
    local_run(folder, checkpoint_unit="steps", checkpoint_every=4, resume=resume)
