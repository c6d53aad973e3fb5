"""The data: batches of images, shape (batch, 1, SIZE, SIZE), from 0 to 1, and labels.

The labels, shape (batch,), are not learned from: they are there for people who look at the codes.
"""

import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset, random_split

#: slot build_datasets


#: slot datasets


def build_loaders(config) -> tuple[DataLoader, DataLoader, DataLoader]:
    """Loaders for training, validation and test data, not yet divided among processes."""
    train_set, val_set, test_set = build_datasets(config)
    #: slot after_datasets
    train_loader = DataLoader(
        train_set,
        config.batch_size,
        #: region order
        shuffle=True,
        #: end order
        drop_last=True,
        num_workers=config.num_workers,
        generator=torch.Generator(),  # its own, or an epoch's start would move the dropout's
    )
    # nothing is dropped here, and without gradients a larger batch fits
    #: region eval_batch
    settings = {"batch_size": 4 * config.batch_size, "num_workers": config.num_workers}
    #: end eval_batch
    val_loader, test_loader = DataLoader(val_set, **settings), DataLoader(test_set, **settings)
    #: slot after_loaders
    return train_loader, val_loader, test_loader
