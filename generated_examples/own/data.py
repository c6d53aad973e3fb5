"""The data: yours to replace. What stands here is made up, so that everything runs at once.

What the loop expects of a batch:

- Tensors in a tuple, a list or a dictionary, each with the samples along its first dimension.
- The loop hands batches on unopened: only `evaluate` and `# forward` in train.py unpack them.
- Samples of different lengths are padded in a `collate_fn`. Give it to all three loaders.

Training data is shuffled, and its last batch is dropped if it is not full. Of the others nothing is
dropped: each sample counts once, on any number of processes.
"""

import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset, random_split

from checkpoint import leave_signals_to_training


def build_datasets(config) -> list[Dataset]:
    """Datasets for training, validation and test: here points, and a function of each point.

    A sample is a pair of tensors: inputs of shape (4,), and targets of shape (1,). Yours can be
    anything that the loaders make batches of. Split it by a seed of its own, as here: another
    --seed must not move test samples into the training data.
    """
    generator = torch.Generator().manual_seed(0)
    inputs = torch.rand(2000, 4, generator=generator)
    targets = inputs.sin().sum(dim=1, keepdim=True)
    return random_split(TensorDataset(inputs, targets), [0.8, 0.1, 0.1], generator=generator)


def build_loaders(config) -> tuple[DataLoader, DataLoader, DataLoader]:
    """Loaders for training, validation and test data, not yet divided among processes."""
    train_set, val_set, test_set = build_datasets(config)
    train_loader = DataLoader(
        train_set,
        config.batch_size,
        shuffle=True,
        drop_last=True,
        num_workers=config.num_workers,
        worker_init_fn=leave_signals_to_training,
        generator=torch.Generator(),  # its own, or an epoch's start would move the dropout's
    )
    # nothing is dropped here, and without gradients a larger batch fits
    settings = {"batch_size": 4 * config.batch_size, "num_workers": config.num_workers}
    settings["worker_init_fn"] = leave_signals_to_training
    val_loader, test_loader = DataLoader(val_set, **settings), DataLoader(test_set, **settings)
    return train_loader, val_loader, test_loader
