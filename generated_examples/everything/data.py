"""The data: batches of images, shape (batch, 1, 8, 8), from 0 to 1, and labels, shape (batch,)."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, TensorDataset, random_split


def build_datasets() -> list[Dataset]:
    """1797 handwritten digits, split into training, validation and test data."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(digits.target)
    # a seed of its own: another --seed must not move test samples into the training data
    split = torch.Generator().manual_seed(0)
    return random_split(TensorDataset(images, labels), [0.8, 0.1, 0.1], generator=split)


class Shifted(Dataset):
    """Images moved by up to one pixel, by chance.

    What is drawn follows from the seed, the epoch and the index of the image alone: it is the
    same after a resume, with any number of data workers, and on any number of processes.
    """

    def __init__(self, data: Dataset, seed: int) -> None:
        self.data, self.seed, self.epoch = data, seed, 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        image, label = self.data[index]
        generator = torch.Generator().manual_seed(hash((self.seed, self.epoch, index)))
        down, right = torch.randint(0, 3, (2,), generator=generator).tolist()
        height, width = image.shape[-2:]
        padded = F.pad(image, (1, 1, 1, 1))
        return padded[..., down : down + height, right : right + width], label


def build_loaders(config) -> tuple[DataLoader, DataLoader, DataLoader]:
    """Loaders for training, validation and test data, not yet divided among processes."""
    train_set, val_set, test_set = build_datasets()
    train_set = Shifted(train_set, torch.initial_seed())  # that of set_seed
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
