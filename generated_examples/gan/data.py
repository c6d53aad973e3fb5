"""The data: images, shape (batch, 1, 8, 8), from 0 to 1, and labels, shape (batch,)."""

import torch
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Dataset, TensorDataset, random_split

SIZE = 8  # pixels, both ways


def build_datasets(config) -> list[Dataset]:
    """1797 handwritten digits, split into training, validation and test data."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(digits.target)
    # a fixed seed: another --seed must not move test samples into the training data
    rng = torch.Generator().manual_seed(0)
    return random_split(TensorDataset(images, labels), [0.8, 0.1, 0.1], generator=rng)


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
    settings = {
        "batch_size": 4 * config.batch_size,  # evaluation keeps no activations
        "num_workers": config.num_workers,
        "generator": torch.Generator(),  # else evaluating advances the RNG of dropout
    }
    val_loader, test_loader = DataLoader(val_set, **settings), DataLoader(test_set, **settings)
    return train_loader, val_loader, test_loader
