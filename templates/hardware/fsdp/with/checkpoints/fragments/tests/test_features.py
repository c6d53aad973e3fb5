from pathlib import Path
from checkpoint import find_checkpoints
from helpers import launch
from test_resume import assert_same_file

#: slot tests
def test_a_split_model_resumes_exactly(tmp_path):
    for _ in ("from the start", "from its first checkpoint"):
        assert not launch(saved_split_run, tmp_path).returncode
    assert_same_file(tmp_path / "whole/model.safetensors", tmp_path / "resumed/model.safetensors")
    first = find_checkpoints(tmp_path / "whole")[0]
    *_, part = sorted(first.rglob("*"), key=lambda path: len(path.parts))
    part.unlink()
    assert first not in find_checkpoints(tmp_path / "whole"), "a checkpoint without a part"


def saved_split_run(folder: Path) -> None:
    """Train with a checkpoint after every second step, or resume the first one."""
    cadence = {"checkpoint_unit": "steps", "checkpoint_every": 2}
    if found := find_checkpoints(folder / "whole"):
        split_run(folder / "resumed", resume=str(found[0]), **cadence)
    else:
        split_run(folder / "whole", **cadence)
