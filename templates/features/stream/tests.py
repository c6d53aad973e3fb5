from itertools import islice
from pathlib import Path

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader

from data import EvalStream, TrainStream, read_by_each
from helpers import launch

#: into tests/helpers.py
#: replace take
samples = loader.dataset.data
return EvalStream(Subset(samples, [index % len(samples) for index in range(size)]))

#: into tests/test_features.py
#: slot tests
def test_nothing_is_lost_or_read_twice(tmp_path):
    """Two processes, each with two workers, read the first keys once each."""
    launch(share_run, tmp_path)
    read = [torch.load(tmp_path / f"read{rank}.pt") for rank in (0, 1)]
    keys = islice(TrainStream(range(100), seed=0).keys(), 16)
    assert sorted(torch.cat(read).tolist()) == sorted(keys)


def share_run(folder: Path) -> None:
    """Read a batch of each worker."""
    accelerator = Accelerator()
    loader = DataLoader(TrainStream(range(100), seed=0), 4, num_workers=2)
    batches = list(islice(accelerator.prepare(read_by_each(loader)), 2))
    torch.save(torch.cat(batches), folder / f"read{accelerator.process_index}.pt")

#: into tests/test_resume.py
#: slot epoch_batches
batches = islice(batches, 6 - skipped)
