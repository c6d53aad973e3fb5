"""The data: rows of numbers, shape (batch, columns), and targets, shape (batch,)."""

import torch
from sklearn.datasets import load_breast_cancer
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, TensorDataset, random_split


def load_table(config) -> tuple[Tensor, Tensor]:
    """569 tumors: 30 measurements, shape (569, 30), and whether they are benign, (569,)."""
    rows, labels = load_breast_cancer(return_X_y=True)
    return torch.tensor(rows, dtype=torch.float32), torch.tensor(labels)


def build_datasets(config) -> list[Dataset]:
    """The rows of the table, split into training, validation and test data."""
    rows = TensorDataset(*load_table(config))
    # a fixed seed: another --seed must not move test samples into the training data
    rng = torch.Generator().manual_seed(0)
    parts = [part.indices for part in random_split(range(len(rows)), [0.6, 0.2, 0.2], rng)]
    return [TensorDataset(*rows[part]) for part in parts]


def build_loaders(config) -> tuple[DataLoader, DataLoader, DataLoader]:
    """The training, validation and test loaders, before accelerator.prepare()."""
    train_set, val_set, test_set = build_datasets(config)
    train_loader = DataLoader(
        train_set,
        config.batch_size,
        shuffle=True,
        drop_last=True,
        num_workers=config.num_workers,
        generator=torch.Generator().manual_seed(config.seed),  # leaves dropout's RNG alone
    )
    # larger batches fit in memory, because no activations are kept
    settings = {"batch_size": 4 * config.batch_size, "num_workers": config.num_workers}
    settings["generator"] = torch.Generator()  # else evaluating advances the RNG of dropout
    val_loader, test_loader = DataLoader(val_set, **settings), DataLoader(test_set, **settings)
    return train_loader, val_loader, test_loader
