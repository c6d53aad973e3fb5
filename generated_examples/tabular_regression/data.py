"""The data: rows of numbers, shape (batch, columns), and targets, shape (batch,)."""

import torch
from sklearn.datasets import load_diabetes
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, TensorDataset, random_split


def load_table(config) -> tuple[Tensor, Tensor]:
    """442 patients: 10 measurements, shape (442, 10), and their diabetes a year later, (442,)."""
    rows, targets = load_diabetes(return_X_y=True, scaled=False)
    return torch.tensor(rows, dtype=torch.float32), torch.tensor(targets, dtype=torch.float32)


def build_datasets(config) -> list[Dataset]:
    """The rows of the table, split into training, validation and test data."""
    rows = TensorDataset(*load_table(config))
    # a seed of its own: another --seed must not move test samples into the training data
    split = torch.Generator().manual_seed(0)
    parts = [part.indices for part in random_split(range(len(rows)), [0.6, 0.2, 0.2], split)]
    return [TensorDataset(*rows[part]) for part in parts]


def build_loaders(config) -> tuple[DataLoader, DataLoader, DataLoader]:
    """Loaders for training, validation and test data, not yet divided among processes."""
    train_set, val_set, test_set = build_datasets(config)
    train_loader = DataLoader(
        train_set,
        config.batch_size,
        shuffle=True,
        drop_last=True,
        num_workers=config.num_workers,
        generator=torch.Generator(),  # its own, or an epoch's start would move the dropout's
    )
    # nothing is dropped here, and without gradients a larger batch fits
    settings = {"batch_size": 4 * config.batch_size, "num_workers": config.num_workers}
    val_loader, test_loader = DataLoader(val_set, **settings), DataLoader(test_set, **settings)
    return train_loader, val_loader, test_loader
