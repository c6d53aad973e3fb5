from collections.abc import Iterator

import torch
from torch.utils.data import Sampler

#: slot datasets
class EpochSampler(Sampler[int]):
    """The order of the training samples in an epoch: edit it as you like.

    It may depend only on the seed and the epoch: then all processes, which divide it among
    themselves, have the same order, and a resumed run does too.
    """

    def __init__(self, samples: int, seed: int) -> None:
        self.samples, self.seed, self.epoch = samples, seed, 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __len__(self) -> int:
        return self.samples

    def __iter__(self) -> Iterator[int]:
        generator = torch.Generator().manual_seed(self.seed + self.epoch)
        return iter(torch.randperm(self.samples, generator=generator).tolist())

#: replace order
sampler=EpochSampler(len(train_set), config.seed),
