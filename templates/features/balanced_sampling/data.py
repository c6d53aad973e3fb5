from collections.abc import Iterator

import torch
from torch import Tensor
from torch.utils.data import Dataset, Sampler

#: slot datasets
class BalancedSampler(Sampler[int]):
    """Draws indices of samples with replacement: each class equally often on average.

    The draw depends only on the seed and the epoch. So it is the same in a resumed run and on all
    processes, which split it.
    """

    def __init__(self, labels: Tensor, seed: int) -> None:
        self.weights = 1 / torch.bincount(labels)[labels]
        self.seed, self.epoch = seed, 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self.weights)

    def __iter__(self) -> Iterator[int]:
        generator = torch.Generator().manual_seed(self.seed + self.epoch)
        drawn = torch.multinomial(self.weights, len(self), replacement=True, generator=generator)
        return iter(drawn.tolist())


def read_labels(data: Dataset) -> Tensor:
    """The labels of all samples, shape (samples,)."""
    return torch.tensor([int(label) for *_, label in data])

#: replace order
sampler=BalancedSampler(read_labels(train_set), config.seed),
