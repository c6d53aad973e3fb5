#: file
"""The data: images, shape (batch, 3, size, size), from 0 to 1, and masks, (batch, size, size).

A mask has the class of each pixel, or VOID, which is ignored.
"""

import numpy as np
import torch
from PIL import Image
from torch import Tensor
from torch.utils.data import Dataset, random_split

VOID = 255


#: slot row_readers


#: slot load_splits


#: slot build_datasets


#: slot datasets


#: slot build_loaders
#: end file

from functools import partial
from math import cos, pi, sin
from pathlib import Path
from random import Random

import torch.nn.functional as F
from datasets import Image as ImageColumn
from datasets import load_dataset
from PIL import ImageDraw, ImageOps
from torch.utils.data import TensorDataset

from lib.folders import find_split, list_folders, list_shown, note_others, note_outside
from lib.hub import load_splits
from lib.image_folders import SUFFIXES
from lib.images import FORMATS, UnreadableImage, read_stored, to_rgb
from lib.notes import note
from lib.scaled_images import to_tensor

#: slot build_datasets when dataset=shapes
CLASSES = ["background", "disc", "square", "triangle"]


def build_datasets(config) -> list[Dataset]:
    """1,200 drawn images with their masks, split into training, validation and test data."""
    rng = Random(0)
    drawn = [draw_shapes(config.image_size, rng) for _ in range(1200)]
    images, masks = (torch.stack(parts) for parts in zip(*drawn, strict=True))
    # a fixed seed: another --seed must not move test samples into the training data
    split = torch.Generator().manual_seed(0)
    return random_split(TensorDataset(images, masks), [0.8, 0.1, 0.1], generator=split)


def draw_shapes(size: int, rng: Random) -> tuple[Tensor, Tensor]:
    """One to three shapes of any color on noise, and the class of each pixel."""
    noise = bytes(rng.randrange(100) for _ in range(3 * size * size))
    image, mask = Image.frombytes("RGB", (size, size), noise), Image.new("L", (size, size))
    for _ in range(rng.randint(1, 3)):
        label = rng.randrange(1, len(CLASSES))
        radius = rng.uniform(0.15, 0.3) * size
        x, y = (rng.uniform(radius, size - radius) for _ in range(2))
        color = tuple(rng.randrange(130, 256) for _ in range(3))
        sides, start = {1: (40, 0.0), 2: (4, pi / 4), 3: (3, pi / 6)}[label]
        angles = [start + 2 * pi * side / sides for side in range(sides)]
        corners = [(x + radius * cos(angle), y + radius * sin(angle)) for angle in angles]
        ImageDraw.Draw(image).polygon(corners, fill=color)
        ImageDraw.Draw(mask).polygon(corners, fill=label)
    return to_tensor(image, size), torch.from_numpy(np.array(mask)).long()

#: slot build_datasets when dataset=folder
Pairs = list[tuple[Path, Path]]  # images, and their masks


class MaskedImages(Dataset):
    """RGB images, shape (3, size, size), from 0 to 1, and their masks, shape (size, size)."""

    def __init__(self, pairs: Pairs, size: int) -> None:
        self.pairs, self.transform = pairs, partial(scale, size=size)

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        image, mask = self.pairs[index]
        return self.transform(read_picture(image, to_rgb), read_picture(mask))


def build_datasets(config) -> list[Dataset]:
    """Training, validation and test data. A missing split is a tenth of the training images.

    Raises SystemExit for an invalid image or mask, before training starts.
    """
    folder = Path(config.path)
    if not folder.is_dir():
        raise SystemExit(f"{folder} is not a folder: set --path to one with images/ and masks/.")
    parts = {"train": read_part(folder, "train", config)}
    # a fixed seed: another --seed must not move test images into the training data
    rng = torch.Generator().manual_seed(0)
    for name in ("val", "test"):
        if find_part(folder, name):
            parts[name] = read_part(folder, name, config)
        elif len(parts["train"]) < 10:
            raise SystemExit(
                f"{folder} has too few images to split: use 11, or add {folder / name}."
            )
        else:
            parts["train"], parts[name] = random_split(parts["train"], [0.9, 0.1], generator=rng)
    places = [path for name in parts for path in find_part(folder, name) or ()]
    note_outside(folder, [*places, *(path.parent for path in places)])
    return [parts["train"], parts["val"], parts["test"]]


def find_part(folder: Path, name: str) -> tuple[Path, Path] | None:
    """The folders of the images and of the masks of a split: train/images/ or images/train/.

    Without them, images/ and masks/ have the training data.
    """
    images, masks = folder / "images", folder / "masks"
    if (split := find_split(folder, name)).is_dir():
        return split / "images", split / "masks"
    splits = find_split(images, name), find_split(masks, name)
    if any(split.is_dir() for split in splits):
        return splits
    return (images, masks) if name == "train" else None


def read_part(folder: Path, name: str, config) -> MaskedImages:
    """The images of a split. Raises SystemExit for a mask that does not fit its image."""
    image_folder, mask_folder = find_part(folder, name)
    found, images = find_files(mask_folder), find_files(image_folder)
    if not images:
        raise SystemExit(f"{image_folder} has no images.")
    masks, named = ({path.stem: path for path in paths} for paths in (found, images))
    if twice := [path for path in found if masks[path.stem] != path]:
        raise SystemExit(f"{twice[0]} and {masks[twice[0].stem]} are masks of the same image.")
    if twice := [path for path in images if named[path.stem] != path]:
        raise SystemExit(f"{twice[0]} and {named[twice[0].stem]} have the same mask: rename one.")
    if lost := [path for path in images if path.stem not in masks]:
        raise SystemExit(f"{lost[0]} has no mask {mask_folder / lost[0].stem}.png.")
    if alone := [path for path in found if path.stem not in named]:
        note(f"{mask_folder}: ignored: {len(alone):,} masks without an image, such as {alone[0]}")
    pairs = [(path, masks[path.stem]) for path in images]
    classes = []
    for image, mask in pairs:
        pictures = read_picture(image, to_rgb), read_picture(mask)
        classes.append(check_mask(*pictures, str(image), str(mask), config))
    check_classes(classes, str(mask_folder), training=name == "train")
    return MaskedImages(pairs, config.image_size)


def find_files(folder: Path) -> list[Path]:
    """The images of a folder, in the order of their names. Hidden files are left out."""
    if not folder.is_dir():
        raise SystemExit(f"{folder} is missing: masks/ has a mask for each image in images/.")
    if inner := list_folders(folder):
        raise SystemExit(
            f"{inner[0]} is a folder among images: move its files to {folder}, or put the images "
            f"beside it into {folder / 'train'}."
        )
    shown = list_shown(folder)
    note_others(folder, [path for path in shown if path.suffix.lower() not in SUFFIXES])
    return [path for path in shown if path.suffix.lower() in SUFFIXES]


def read_picture(path: Path, turn=ImageOps.exif_transpose) -> Image.Image:
    """An upright picture. Raises SystemExit if it can't be read."""
    try:
        with Image.open(path, formats=FORMATS) as file:
            return turn(file)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise SystemExit(f"{path} can't be read as an image: {error}") from error

#: slot build_datasets when dataset=huggingface
class MaskedRows(Dataset):
    """RGB images, shape (3, size, size), from 0 to 1, and their masks, shape (size, size)."""

    def __init__(self, rows, name: str, config) -> None:
        self.rows, self.name, self.config = rows, name, config
        self.transform = partial(scale, size=config.image_size)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        return self.transform(*self.read(index)[:2])

    def read(self, index: int) -> tuple[Image.Image, Image.Image, str, str]:
        """The image and the mask of a row, and their names. Raises UnreadableImage."""
        columns = self.config.image_column, self.config.mask_column
        names = [f"{self.name}, row {index + 1}, column {column}" for column in columns]
        stored = [self.rows[index][column] for column in columns]
        image = read_stored(stored[0], names[0], to_rgb)
        return image, read_stored(stored[1], names[1], ImageOps.exif_transpose), *names


def build_datasets(config) -> list[Dataset]:
    """The splits train, validation and test. A missing one is a tenth of train."""
    splits = load_splits(config)
    for flag, name in (("image", config.image_column), ("mask", config.mask_column)):
        if not isinstance(splits["train"].features.get(name), ImageColumn):
            raise SystemExit(
                f"{config.dataset_name} has no column {name} with images: "
                f"--{flag}-column names one of {', '.join(splits['train'].features)}."
            )
        splits = splits.cast_column(name, ImageColumn(decode=False))
    parts = {}
    for name, rows in splits.items():
        parts[name] = MaskedRows(rows, f"{config.dataset_name}, {name}", config)
        check_classes(check_rows(parts[name]), parts[name].name, training=name == "train")
    # a fixed seed: another --seed must not move test images into the training data
    rng = torch.Generator().manual_seed(0)
    for name in ("validation", "test"):
        if name not in parts:
            if len(parts["train"]) < 10:
                raise SystemExit(f"{config.dataset_name} has too few images to split: use 11.")
            parts["train"], parts[name] = random_split(parts["train"], [0.9, 0.1], generator=rng)
    return [parts["train"], parts["validation"], parts["test"]]


def check_rows(data: MaskedRows) -> list[set[int]]:
    """The classes in each mask. Raises SystemExit for an unreadable image, or a mask of another."""
    try:
        return [check_mask(*data.read(index), data.config) for index in range(len(data))]
    except UnreadableImage as error:
        raise SystemExit(str(error)) from error

#: slot build_datasets when dataset=folder|huggingface
def check_mask(
    image: Image.Image, mask: Image.Image, image_name: str, mask_name: str, config
) -> set[int]:
    """The classes in a mask. Raises SystemExit for a mask that does not fit its image."""
    if mask.mode not in ("L", "P", "1"):
        raise SystemExit(
            f"{mask_name} is not an 8-bit grayscale or palette image, but {mask.mode}: write the "
            "number of the class of each pixel, and not a color."
        )
    if mask.size != image.size:
        raise SystemExit(f"{mask_name} does not have the size of {image_name}.")
    classes = {*np.unique(np.array(mask)).tolist()} - {VOID}
    if wrong := classes - {*range(config.classes)}:
        raise SystemExit(
            f"{mask_name} has the class {min(wrong)}. Classes are from 0 to {config.classes - 1} "
            f"(--classes), and {VOID} is ignored."
        )
    return classes


def check_classes(found: list[set[int]], name: str, training: bool) -> None:
    """Raises SystemExit for a split whose masks have no class or, for training, only one."""
    classes = set().union(*found)
    if not classes:
        raise SystemExit(f"{name} has no image with a class.")
    if training and len(classes) == 1:
        raise SystemExit(
            f"{name} has one class, {min(classes)}: a model needs two to tell apart. {VOID} is "
            "ignored: if it is a class, write 1 instead."
        )

#: slot build_datasets when dataset=folder|coco|huggingface
def scale(image: Image.Image, mask: Image.Image, size: int) -> tuple[Tensor, Tensor]:
    """Both pictures as squares of this size."""
    # interpolating between two classes would give a third one
    scaled = mask.resize((size, size), Image.Resampling.NEAREST)
    return to_tensor(image, size), torch.from_numpy(np.array(scaled)).long()

#: replace load when dataset=huggingface
splits = load_dataset(name)

#: replace shift when features.augmentation.kind=shift with augmentation
def augment(image, mask, config, generator) -> tuple[Tensor, Tensor]:
    """The image and its mask, shifted by up to `augmentation_pixels`. New pixels are VOID."""
    distance = config.augmentation_pixels
    down, right = torch.randint(0, 2 * distance + 1, (2,), generator=generator).tolist()
    height, width = mask.shape
    edges = (distance, distance, distance, distance)
    part = (slice(down, down + height), slice(right, right + width))
    moved, mask = F.pad(image, edges)[:, *part], F.pad(mask, edges, value=VOID)[part]
    return moved, mask

#: replace flip when features.augmentation.kind=flip with augmentation
def augment(image, mask, config, generator) -> tuple[Tensor, Tensor]:
    """The image and its mask, half of the time flipped horizontally."""
    mirrored = torch.rand((), generator=generator) < 0.5
    return (image.flip(2), mask.flip(1)) if mirrored else (image, mask)

#: replace shift_and_flip when features.augmentation.kind=shift_and_flip with augmentation
def augment(image, mask, config, generator) -> tuple[Tensor, Tensor]:
    """The image and its mask, shifted, and flipped half of the time. New pixels are VOID."""
    distance = config.augmentation_pixels
    down, right = torch.randint(0, 2 * distance + 1, (2,), generator=generator).tolist()
    height, width = mask.shape
    edges = (distance, distance, distance, distance)
    part = (slice(down, down + height), slice(right, right + width))
    moved, mask = F.pad(image, edges)[:, *part], F.pad(mask, edges, value=VOID)[part]
    mirrored = torch.rand((), generator=generator) < 0.5
    return (moved.flip(2), mask.flip(1)) if mirrored else (moved, mask)

#: replace erase when features.augmentation.kind=erase with augmentation
def augment(image, mask, config, generator) -> tuple[Tensor, Tensor]:
    """The image, half of the time with an erased square, where the mask is VOID."""
    height, width = mask.shape
    side = min(height, width) // 2
    if torch.rand((), generator=generator) < 0.5:
        return image, mask
    top = int(torch.randint(0, height - side + 1, (), generator=generator))
    left = int(torch.randint(0, width - side + 1, (), generator=generator))
    erased, unknown = image.clone(), mask.clone()
    erased[:, top : top + side, left : left + side] = 0
    unknown[top : top + side, left : left + side] = VOID
    return erased, unknown
