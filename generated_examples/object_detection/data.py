"""The data: images, shape (batch, 3, size, size), from 0 to 1, and the objects in each of them.

The objects of an image are a dictionary of tensors with a row for each: `boxes`, (objects, 4), with
left, top, right and bottom in pixels, `labels`, their class indices, and `crowd`, which
says whether it is a group of objects: it is not learned, and detections in it are ignored.
"""

from math import cos, hypot, pi, sin
from pathlib import Path
from random import Random

import numpy as np
import torch
from PIL import Image, ImageDraw, ImageOps
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, default_collate, random_split

Objects = dict[str, Tensor]


def collate(samples: list[tuple[Tensor, Objects]]) -> tuple[Tensor, list[Objects]]:
    """A batch. Each image keeps its own number of objects, which may be 0."""
    images, targets = zip(*samples, strict=True)
    return default_collate(images), list(targets)


CLASSES = ["disc", "square", "triangle"]


def class_names(config) -> list[str]:
    return CLASSES


def build_datasets(config) -> list[Dataset]:
    """1,200 drawn images and their objects, split into training, validation and test data."""
    rng = Random(0)
    drawn = [draw_shapes(config.image_size, rng) for _ in range(1200)]
    # a fixed seed: another --seed must not move test samples into the training data
    split = torch.Generator().manual_seed(0)
    return random_split(drawn, [0.8, 0.1, 0.1], generator=split)


def to_tensor(image: Image.Image, size: int) -> Tensor:
    """An RGB image, scaled, shape (3, size, size), from 0 to 1."""
    scaled = np.array(image.resize((size, size), Image.Resampling.BILINEAR)).transpose(2, 0, 1)
    return torch.from_numpy(np.ascontiguousarray(scaled)) / 255  # faster to stack into batches


def draw_shapes(size: int, rng: Random) -> tuple[Tensor, Objects]:
    """Up to three shapes of any color on noise, without overlap."""
    image = Image.frombytes("RGB", (size, size), rng.randbytes(3 * size * size))
    image = image.point(lambda value: value // 3)
    drawn, boxes, labels = [], [], []
    for _ in range(rng.randint(0, 3)):
        label = rng.randrange(len(CLASSES))
        radius = rng.uniform(0.1, 0.25) * size
        x, y = (rng.uniform(radius, size - radius) for _ in range(2))
        if any(hypot(x - a, y - b) < radius + other for a, b, other in drawn):
            continue
        drawn.append((x, y, radius))
        color = tuple(rng.randrange(130, 256) for _ in range(3))
        sides, start = [(40, 0.0), (4, pi / 4), (3, pi / 6)][label]
        angles = [start + 2 * pi * side / sides for side in range(sides)]
        corners = [(x + radius * cos(angle), y + radius * sin(angle)) for angle in angles]
        ImageDraw.Draw(image).polygon(corners, fill=color)
        horizontal, vertical = zip(*corners, strict=True)
        boxes.append((min(horizontal), min(vertical), max(horizontal), max(vertical)))
        labels.append(label)
    return to_tensor(image, size), {
        "boxes": torch.tensor(boxes, dtype=torch.float32).reshape(-1, 4),
        "labels": torch.tensor(labels, dtype=torch.int64),
        "crowd": torch.zeros(len(boxes), dtype=torch.bool),
    }


def is_hidden(path: Path, folder: Path) -> bool:
    """Whether a path below a folder is hidden, or was left there by a program."""
    parts = path.relative_to(folder).parts
    return any(part.startswith(".") or part == "__MACOSX" for part in parts)


# what Image.open may read: EPS files would start another program
FORMATS = ["BMP", "GIF", "ICO", "JPEG", "JPEG2000", "PNG", "PPM", "TGA", "TIFF", "WEBP"]


def to_rgb(picture: Image.Image) -> Image.Image:
    """An upright RGB picture. Raises ValueError for pixels of 32 bits, which have no range."""
    ImageOps.exif_transpose(picture, in_place=True)
    if picture.mode in ("I", "F"):
        raise ValueError("it has 32 bits for each pixel: save it with 8 or 16")
    if picture.mode.startswith("I;16"):  # convert() would make white of all values above 255
        picture = picture.convert("I").point(lambda value: value / 257).convert("L")
    return picture if picture.mode == "RGB" else picture.convert("RGB")


def build_loaders(config) -> tuple[DataLoader, DataLoader, DataLoader]:
    """The training, validation and test loaders, before accelerator.prepare()."""
    train_set, val_set, test_set = build_datasets(config)
    train_loader = DataLoader(
        train_set,
        config.batch_size,
        shuffle=True,
        drop_last=True,
        num_workers=config.num_workers,
        collate_fn=collate,
        generator=torch.Generator().manual_seed(config.seed),  # leaves dropout's RNG alone
    )
    settings = {
        "batch_size": 4 * config.batch_size,  # evaluation keeps no activations
        "num_workers": config.num_workers,
        "generator": torch.Generator(),  # else evaluating advances the RNG of dropout
    }
    val_loader = DataLoader(val_set, collate_fn=collate, **settings)
    test_loader = DataLoader(test_set, collate_fn=collate, **settings)
    return train_loader, val_loader, test_loader
