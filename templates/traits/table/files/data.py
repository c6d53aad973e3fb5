"""The data: rows of numbers, shape (batch, columns), and targets, shape (batch,)."""

import torch
from torch import Tensor
from torch.utils.data import Dataset, TensorDataset, random_split


#: slot load_table


def build_datasets(config) -> list[Dataset]:
    """The rows of the table, split into training, validation and test data."""
    #: region split
    rows = TensorDataset(*load_table(config))
    # a fixed seed: another --seed must not move test samples into the training data
    rng = torch.Generator().manual_seed(0)
    parts = [part.indices for part in random_split(range(len(rows)), [0.6, 0.2, 0.2], rng)]
    #: slot after_split
    return [TensorDataset(*rows[part]) for part in parts]
    #: end split


#: slot datasets


#: slot build_loaders
