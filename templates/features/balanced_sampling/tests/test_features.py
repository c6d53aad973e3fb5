from collections.abc import Mapping
from pathlib import Path

import torch
from accelerate import Accelerator

import train
from data import BalancedSampler, build_loaders
from helpers import SETTINGS, enough_data, launch

#: slot tests
def test_classes_are_drawn_equally_often():
    """With 100 samples of one class and 900 of the other, half of the draw is of each."""
    labels = torch.arange(1000).remainder(10).eq(0).long()
    sampler = BalancedSampler(labels, seed=0)
    order = list(sampler)
    assert len(order) == 1000
    assert 400 < labels[order].sum() < 600
    sampler.set_epoch(1)
    assert list(sampler) != order, "two epochs have the same draw"


def test_processes_divide_one_draw(tmp_path):
    save_batches(tmp_path)
    launch(save_batches, tmp_path)
    whole = torch.load(tmp_path / "0of1.pt")
    for rank in (0, 1):
        part = torch.load(tmp_path / f"{rank}of2.pt")
        assert all(map(torch.equal, part, whole[rank::2])), "each process has its own draw"


def save_batches(folder: Path) -> None:
    """Save the inputs of the second epoch."""
    accelerator = Accelerator()
    with enough_data():
        loader = accelerator.prepare(build_loaders(train.Config(**SETTINGS))[0])
    loader.set_epoch(1)
    #: slot second_epoch
    batches = [list(batch.values() if isinstance(batch, Mapping) else batch) for batch in loader]
    name = f"{accelerator.process_index}of{accelerator.num_processes}.pt"
    torch.save([batch[0] for batch in batches], folder / name)
