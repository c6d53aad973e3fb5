import json
from pathlib import Path
from unittest import mock

import train
from config import find_checkpoints
from helpers import launch, run
from test_resume import assert_same_file

#: into tests/helpers.py
#: slot settings
"local_sgd_every": 1,  # so 2 processes train like one with twice the batch size

#: into tests/test_features.py
#: slot tests
def test_weights_differ_until_they_are_averaged(tmp_path):
    launch(local_run, tmp_path)
    one, two = (json.loads((tmp_path / f"sums{rank}.json").read_text()) for rank in (0, 1))
    same = [step for step in one if one[step] == two[step]]
    assert same == ["3", "6"], f"of 6 steps, the weights are the same after {same}"


def local_run(folder: Path, **changes) -> None:
    """Train for 6 steps, averaged after the third and the last."""
    sums, average = {}, train.LocalSgd.step

    def look(local_sgd, step) -> None:
        average(local_sgd, step)
        weights = local_sgd.model.parameters()
        sums[step] = float(sum(weight.detach().double().sum() for weight in weights))
        path = folder / f"sums{local_sgd.accelerator.process_index}.json"
        path.write_text(json.dumps(sums))

    with mock.patch.object(train.LocalSgd, "step", look):
        run(folder, epochs=1, local_sgd_every=3, **changes)

#: slot tests with checkpoints
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
