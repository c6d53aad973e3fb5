"""The data: replace it with yours.

A batch can be a tuple, a list or a dictionary of tensors whose first dimension is the batch.
Only train.py unpacks it, in the training loop and in evaluate(). If samples differ in length, pad
them in a `collate_fn`, and pass it to all three loaders.

Training data is shuffled, and an incomplete last batch is dropped. Validation and test data are
not dropped: each sample counts once, on any number of processes.
"""

import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset, random_split


def build_datasets(config) -> list[Dataset]:
    """Datasets for training, validation and test: here, points and a function of each point.

    A sample is a pair of tensors: inputs of shape (4,), and a target of shape (1,).
    """
    # a fixed seed: another --seed must not move test samples into the training data
    generator = torch.Generator().manual_seed(0)
    inputs = torch.rand(2000, 4, generator=generator)
    targets = inputs.sin().sum(dim=1, keepdim=True)
    return random_split(TensorDataset(inputs, targets), [0.8, 0.1, 0.1], generator=generator)


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
