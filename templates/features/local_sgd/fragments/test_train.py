import json
import os
from pathlib import Path
from unittest import mock

import train
from checkpoint import find_checkpoints

#: slot settings
"local_sgd_every": 1,  # so that 2 processes make the update of one with twice the batch

#: slot tests
def test_weights_differ_until_they_are_averaged(tmp_path):
    launch(local_run, tmp_path)
    one, two = (json.loads((tmp_path / f"sums{rank}.json").read_text()) for rank in (0, 1))
    same = [update for update in one if one[update] == two[update]]
    assert same == ["3"], f"of 5 updates, the weights are the same after {same}"


def test_resume_is_exact_on_two_processes(tmp_path):
    """The checkpoint lies between two averages: it makes one of its own."""
    launch(local_run, tmp_path)
    (tmp_path / "checkpoint_00000006").rename(tmp_path / "whole")
    launch(local_run, tmp_path)
    resumed = find_checkpoints(tmp_path)[-1]
    assert resumed.name == "checkpoint_00000006"
    assert_same_files(tmp_path / "whole", resumed, ["model.safetensors", "optimizer.bin"])


def local_run(folder: Path) -> None:
    """Train for 6 updates, averaged after the third and the last, or resume that."""
    sums = {}
    after_update = train.Checkpoints.after_update

    def look(checkpoints) -> None:
        weights = checkpoints.accelerator._models[0].parameters()
        total = sum(weight.detach().double().sum() for weight in weights)
        sums[checkpoints.progress.update] = float(total)
        after_update(checkpoints)

    changes = {"checkpoint_unit": "updates", "checkpoint_every": 4, "local_sgd_every": 3}
    resume = "newest" if find_checkpoints(folder) else ""
    with mock.patch.object(train.Checkpoints, "after_update", look):
        run(folder, epochs=1, resume=resume, **changes)
    (folder / f"sums{os.environ['RANK']}.json").write_text(json.dumps(sums))
