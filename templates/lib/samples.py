#: into data.py at datasets
"""Samples as batches and transforms have them."""

from collections.abc import Sequence
from copy import copy

from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import ConcatDataset, Dataset, Subset


def pad(rows: Sequence[Tensor], value: int = 0) -> Tensor:
    """Rows padded to the same length, shape (batch, length)."""
    #: region pad
    return pad_sequence(list(rows), batch_first=True, padding_value=value)
    #: end pad


def with_transform(data: Dataset, transform) -> Dataset:
    """A copy of the data with another transform. The original keeps its own."""
    data = copy(data)
    if isinstance(data, Subset):
        data.dataset = with_transform(data.dataset, transform)
    elif isinstance(data, ConcatDataset):
        data.datasets = [with_transform(part, transform) for part in data.datasets]
    elif hasattr(data, "transform"):
        data.transform = transform
    else:
        raise TypeError(f"{type(data).__name__} has no attribute `transform` to replace.")
    return data
