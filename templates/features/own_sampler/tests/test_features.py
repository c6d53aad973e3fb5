from collections.abc import Mapping
from pathlib import Path

import torch
from accelerate import Accelerator

import train
from data import build_loaders
from helpers import SETTINGS, enough_data, launch

#: slot tests
def test_the_sampler_says_how_many_it_draws():
    sampler = build_loaders(train.Config(**SETTINGS))[0].sampler
    assert len(list(sampler)) == len(sampler), "__len__ must say how many samples __iter__ yields"


def test_processes_divide_one_order(tmp_path):
    order_run(tmp_path)
    launch(order_run, tmp_path)
    whole = torch.load(tmp_path / "0of1.pt")
    for rank in (0, 1):
        part = torch.load(tmp_path / f"{rank}of2.pt")
        assert all(map(torch.equal, part, whole[rank::2])), "the processes must divide one order"


def order_run(folder: Path) -> None:
    """Note the batches of the second epoch."""
    accelerator = Accelerator()
    with enough_data():
        loader = accelerator.prepare(build_loaders(train.Config(**SETTINGS))[0])
    loader.set_epoch(1)
    if hasattr(loader.dataset, "set_epoch"):  # as train.py does, where samples change too
        loader.dataset.set_epoch(1)
    batches = [batch.values() if isinstance(batch, Mapping) else batch for batch in loader]
    name = f"{accelerator.process_index}of{accelerator.num_processes}.pt"
    torch.save([next(iter(batch)) for batch in batches], folder / name)
