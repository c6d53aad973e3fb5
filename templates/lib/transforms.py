#: into data.py at datasets
"""Data with another transform."""

from copy import copy

from torch.utils.data import ConcatDataset, Dataset, Subset


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
