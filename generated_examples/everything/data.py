"""The data: batches of images, shape (batch, 1, 8, 8), from 0 to 1, and labels, shape (batch,)."""

from collections.abc import Iterator
from pathlib import Path

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import Tensor
from torch.utils.data import (
    ConcatDataset,
    DataLoader,
    Dataset,
    Sampler,
    Subset,
    TensorDataset,
    random_split,
)

from signals import leave_signals_to_training


def build_datasets(config) -> list[Dataset]:
    """1797 handwritten digits, split into training, validation and test data."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(digits.target)
    # a fixed seed: another --seed must not move test samples into the training data
    rng = torch.Generator().manual_seed(0)
    return random_split(TensorDataset(images, labels), [0.8, 0.1, 0.1], generator=rng)


def is_hidden(path: Path, folder: Path) -> bool:
    """Whether a path below a folder is hidden, or was left there by a program."""
    parts = path.relative_to(folder).parts
    return any(part.startswith(".") or part == "__MACOSX" for part in parts)


# what Image.open may read: EPS files would start another program
FORMATS = ["BMP", "GIF", "ICO", "JPEG", "JPEG2000", "PNG", "PPM", "TGA", "TIFF", "WEBP"]


class BalancedSampler(Sampler[int]):
    """Draws indices of samples with replacement: each class equally often on average.

    The draw depends only on the seed and the epoch. So it is the same in a resumed run and on all
    processes, which split it.
    """

    def __init__(self, labels: Tensor, seed: int) -> None:
        self.weights = 1 / torch.bincount(labels)[labels]
        self.seed, self.epoch = seed, 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self.weights)

    def __iter__(self) -> Iterator[int]:
        generator = torch.Generator().manual_seed(self.seed + self.epoch)
        drawn = torch.multinomial(self.weights, len(self), replacement=True, generator=generator)
        return iter(drawn.tolist())


def read_labels(data: Dataset) -> Tensor:
    """The labels of all samples, shape (samples,)."""
    return torch.tensor([int(label) for *_, label in data])


def take_fold(train_set, val_set, config) -> tuple[Dataset, Dataset]:
    """Divide training and validation data into folds, and hold one of them out."""
    folds, fold = config.cross_validation_folds, config.cross_validation_fold
    if not fold < folds:
        raise SystemExit(f"--cross-validation-fold {fold}: {folds} folds are counted from 0.")
    both = ConcatDataset([train_set, val_set])
    if len(both) < folds:
        raise SystemExit(f"--cross-validation-folds {folds}: there are {len(both)} samples.")
    # a fixed seed: the folds are the same for any --seed
    order = torch.randperm(len(both), generator=torch.Generator().manual_seed(0)).tolist()
    rest = [index for place, index in enumerate(order) if place % folds != fold]
    return Subset(both, rest), Subset(both, order[fold::folds])


class Augmented(Dataset):
    """Training images with random changes, different ones in each epoch.

    The changes depend only on the seed, the epoch and the index of the image. So they are the
    same in a resumed run, with any number of data workers, and on any number of processes.
    """

    def __init__(self, data, config) -> None:
        self.data, self.config, self.epoch = data, config, 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, index: int):
        seed = hash((self.config.seed, self.epoch, index))
        generator = torch.Generator().manual_seed(seed)
        sample = self.data[index]
        if isinstance(sample, Tensor):  # an image without a label
            return augment(sample, self.config, generator)
        image, *others = sample
        return augment(image, self.config, generator), *others


def augment(image, config, generator) -> Tensor:
    """The image, shape (channels, height, width), shifted by up to `augmentation_pixels`."""
    distance = config.augmentation_pixels
    down, right = torch.randint(0, 2 * distance + 1, (2,), generator=generator).tolist()
    height, width = image.shape[-2:]
    padded = F.pad(image, (distance, distance, distance, distance))
    return padded[..., down : down + height, right : right + width]


def loading_settings(dataset, config) -> dict[str, bool | int | None]:
    """DataLoader settings for this dataset."""
    workers = config.num_workers > 0
    if workers and config.data_loading_persistent_workers and hasattr(dataset, "set_epoch"):
        raise SystemExit(
            "The training data change with the epoch, which persistent workers don't see: use "
            "--no-data-loading-persistent-workers."
        )
    return {
        "pin_memory": config.data_loading_pin_memory and torch.accelerator.is_available(),
        "prefetch_factor": config.data_loading_prefetch_factor if workers else None,
        "persistent_workers": config.data_loading_persistent_workers and workers,
    }


def build_more_loaders(config, val_loader) -> dict[str, DataLoader]:
    """More sets to evaluate, by the prefix of their metrics. Add your own here.

    "fit" has as many samples as the validation data, but from the training data. The difference
    between both results is the overfitting.
    """
    train_set = build_datasets(config)[0]
    size = min(len(train_set), len(val_loader.dataset))
    settings = {
        "collate_fn": val_loader.collate_fn,
        "num_workers": val_loader.num_workers,
        "generator": torch.Generator(),
        "worker_init_fn": val_loader.worker_init_fn,
    }
    sets = {"fit": Subset(train_set, range(size))}
    return {
        name: DataLoader(part, val_loader.batch_size, **settings) for name, part in sets.items()
    }


def build_loaders(config) -> tuple[DataLoader, DataLoader, DataLoader]:
    """The training, validation and test loaders, before accelerator.prepare()."""
    train_set, val_set, test_set = build_datasets(config)
    train_set, val_set = take_fold(train_set, val_set, config)
    train_set = Augmented(train_set, config)
    train_loader = DataLoader(
        train_set,
        config.batch_size,
        sampler=BalancedSampler(read_labels(train_set), config.seed),
        drop_last=True,
        num_workers=config.num_workers,
        **loading_settings(train_set, config),
        worker_init_fn=leave_signals_to_training,
        generator=torch.Generator().manual_seed(config.seed),  # leaves dropout's RNG alone
    )
    settings = {
        "batch_size": config.eval_batch_size or 4 * config.batch_size,
        "num_workers": config.num_workers,
        **loading_settings(val_set, config),
        "worker_init_fn": leave_signals_to_training,
        "generator": torch.Generator(),  # else evaluating advances the RNG of dropout
    }
    val_loader, test_loader = DataLoader(val_set, **settings), DataLoader(test_set, **settings)
    return train_loader, val_loader, test_loader
