"""The data: images, shape (batch, 1, 8, 8), from 0 to 1, each with noise and a time."""

import torch
from sklearn.datasets import load_digits
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, TensorDataset, random_split

from diffusion import draw_noise

SIZE = 8  # pixels, both ways


def build_datasets(config) -> list[Dataset]:
    """1797 handwritten digits, split into training, validation and test data."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(digits.target)
    # a fixed seed: another --seed must not move test samples into the training data
    rng = torch.Generator().manual_seed(0)
    return random_split(TensorDataset(images, labels), [0.8, 0.1, 0.1], generator=rng)


class Noised(Dataset):
    """Images, each with noise of its shape and a time.

    Noise and time depend only on the index of an image, so all evaluations use the same.
    """

    def __init__(self, images: Dataset) -> None:
        self.images = images

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> tuple[Tensor, ...]:
        image, _ = self.images[index]
        return image, *draw_noise(image.shape, self.find_seed(index))

    def find_seed(self, index: int) -> int:
        return index


class NewlyNoised(Noised):
    """Training images, with new noise and a new time in each epoch.

    Both depend only on the seed, the epoch and the index of an image, so they are the same in a
    resumed run, with any number of data workers, and on any number of processes.
    """

    def __init__(self, images: Dataset, config) -> None:
        super().__init__(images)
        self.config, self.epoch = config, 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def find_seed(self, index: int) -> int:
        return hash((self.config.seed, self.epoch, index))


def image_shape(config) -> tuple[int, int, int]:
    """Channels, height and width of an image."""
    return 1, SIZE, SIZE


def build_loaders(config) -> tuple[DataLoader, DataLoader, DataLoader]:
    """The training, validation and test loaders, before accelerator.prepare()."""
    train_set, val_set, test_set = build_datasets(config)
    train_set = NewlyNoised(train_set, config)
    val_set, test_set = Noised(val_set), Noised(test_set)
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
