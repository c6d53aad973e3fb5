"""The data: images, shape (batch, 1, 8, 8), from 0 to 1, and what is learned from them."""

from pathlib import Path

import torch
import torch.nn.functional as F
from accelerate import PartialState
from sklearn.datasets import load_digits
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

SIZE = 8  # pixels, both ways


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


class Drawn(Dataset):
    """Images, each with two random views: other views in each epoch.

    They depend only on the seed, the epoch and the index of an image, so they are the same in a
    resumed run, with any number of data workers, and on any number of processes.
    """

    def __init__(self, images: Dataset, config) -> None:
        self.images, self.config, self.epoch = images, config, 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        image, _ = self.images[index]
        return image, draw(image, self.config, self.find_seed(index))

    def find_seed(self, index: int) -> int:
        return hash((self.config.seed, self.epoch, index))


def draw(image: Tensor, config, seed: int) -> Tensor:
    """Two random views of an image, shape (2, channels, size, size)."""
    generator = torch.Generator().manual_seed(seed)
    return torch.stack([change(image, generator) for _ in range(2)])


class Probed(Dataset):
    """The images of a set, evenly mixed with the training images whose classes the probes know.

    A sample is an image, two random views, its class, and whether it is known.
    """

    def __init__(self, new: Dataset, known: Dataset, config) -> None:
        self.parts, self.config = (new, known), config
        # a new image comes first, and any number of batches has about the same share of both
        self.order = sorted(
            (row / len(part), is_known, row)
            for is_known, part in zip((False, True), self.parts, strict=True)
            for row in range(len(part))
        )

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor, Tensor | int, bool]:
        _, is_known, row = self.order[index]
        image, label = self.parts[is_known][row]
        return image, draw(image, self.config, row), label, is_known


def split_known(train_set: Dataset, config) -> tuple[Dataset, Dataset]:
    """Training images whose classes the probes know, and the other images: the same in each run."""
    # a fixed seed: the labeled images are the same for any --seed
    order = torch.randperm(len(train_set), generator=torch.Generator().manual_seed(0)).tolist()
    return Subset(train_set, order[: config.known]), Subset(train_set, order[config.known :])


def change(image: Tensor, generator: torch.Generator) -> Tensor:
    """An image randomly rotated, sheared, scaled, shifted, and brighter or darker."""
    numbers = 2 * torch.rand(7, generator=generator) - 1  # from -1 to 1
    linear = torch.eye(2) + 0.3 * numbers[:4].reshape(2, 2)
    shift = 0.25 * numbers[4:6].reshape(2, 1)
    matrix = torch.cat([linear, shift], dim=1).unsqueeze(0)
    places = F.affine_grid(matrix, [1, *image.shape], align_corners=False)
    changed = F.grid_sample(image.unsqueeze(0), places, align_corners=False)[0]
    return changed * (1 + 0.3 * numbers[6])


def build_loaders(config) -> tuple[DataLoader, DataLoader, DataLoader]:
    """The training, validation and test loaders, before accelerator.prepare()."""
    train_set, val_set, test_set = build_datasets(config)
    known, _ = split_known(train_set, config)
    val_set, test_set = Probed(val_set, known, config), Probed(test_set, known, config)
    train_set = Drawn(train_set, config)
    if min(len(val_set), len(test_set)) < 2:
        PartialState().print(
            "a split of one image has the loss 0: there is no other image to compare it with"
        )
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
