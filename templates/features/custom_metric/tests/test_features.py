import json
from pathlib import Path

import torch
from accelerate import Accelerator

from helpers import launch
from metrics import HardBatches

#: slot tests
def test_hard_batches_are_counted_over_all_processes(tmp_path):
    count_hard_batches(tmp_path)
    launch(count_hard_batches, tmp_path)
    one, two = ((tmp_path / f"{processes}").read_text() for processes in "12")
    assert json.loads(one) == {"step": 0, "epoch": 1 / 2, "next": 1.0}
    # the second process has 2 more hard batches: add up before you divide
    assert json.loads(two) == {"step": 1 / 2, "epoch": 4 / 6, "next": 1.0}


def count_hard_batches(folder: Path) -> None:
    accelerator = Accelerator()
    hard_batches = HardBatches(accelerator, limit=1.0)
    hard_batches.add(torch.tensor(2.0))
    resumed = HardBatches(accelerator, limit=1.0)
    resumed.load_state_dict(hard_batches.state_dict())
    for loss in [1.0] + 2 * accelerator.process_index * [3.0]:
        resumed.add(torch.tensor(loss))
    facts = {"step": resumed.read_step(), "epoch": resumed.end_epoch()}
    resumed.add(torch.tensor(2.0))
    facts["next"] = resumed.end_epoch()
    if accelerator.is_main_process:
        (folder / f"{accelerator.num_processes}").write_text(json.dumps(facts))
