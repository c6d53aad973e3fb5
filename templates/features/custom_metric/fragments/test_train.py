import pytest
import torch
from metrics import HardSamples

#: slot tests
def test_hard_samples_are_counted_over_all_processes(tmp_path):
    count_hard_samples(tmp_path)
    launch(count_hard_samples, tmp_path)
    one, two = ((tmp_path / f"{processes}").read_text() for processes in "12")
    # batches of 1 and 3 samples, of which 1 and 0 are hard: add up before the division
    assert json.loads(one) == {"step": 0, "epoch": 1 / 4, "next": 1.0}
    # the second process has 2 more hard ones in its second batch
    assert json.loads(two) == {"step": 2 / 8, "epoch": 4 / 10, "next": 1.0}


def count_hard_samples(folder: Path) -> None:
    accelerator = Accelerator()
    hard_samples = HardSamples(accelerator, limit=1.0)
    hard_samples.add(torch.tensor([2.0]))
    resumed = HardSamples(accelerator, limit=1.0)
    resumed.load_state_dict(hard_samples.state_dict())
    resumed.add(torch.tensor([0.5, 1.0, 0.1] + 2 * accelerator.process_index * [3.0]))
    facts = {"step": resumed.read_step(), "epoch": resumed.end_epoch()}
    resumed.add(torch.tensor([2.0]))
    facts["next"] = resumed.end_epoch()
    if accelerator.is_main_process:
        (folder / f"{accelerator.num_processes}").write_text(json.dumps(facts))
