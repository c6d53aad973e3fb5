#: file with image_texts
"""The data: batches of images, tokens of their texts with a mask, and the ids of both.

A sample is an image and a text that belongs to it. Images are {{ task.kind }}, from 0 to 1, shape
(batch, {{ task.channels }}, size, size). Tokens and mask have the shape (batch, length). The mask is False where
a shorter text is padded. Equal images, and equal texts, have the same number: numbers have the
shape (batch, 2).
"""

from collections.abc import Sequence
from functools import cache

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset

#: region digits when dataset=digits
Row = tuple[int, str]  # an image, and a text that belongs to it
#: end digits
#: region images when dataset=images
Row = tuple[Path, str]  # an image, and a text that belongs to it
#: end images
#: region hub_images when dataset=hub_images
Row = tuple[tuple[str, int], str]  # an image, and a text that belongs to it
#: end hub_images
Sample = tuple[Tensor, str, tuple[int, int]]  # an image, its text, and their numbers


#: slot load_splits


#: slot load_rows


#: slot read_rows


#: slot row_readers


#: slot check_row


#: slot build_datasets


#: slot find_problem


#: slot read_image


#: slot split_rows


def split_by_image(
    rows: list[Row], shares: list[float], source: str = "the data"
) -> list[list[Row]]:
    """The rows in splits of these sizes, the same in each run. Rows of an image stay together."""
    images = dict.fromkeys(image for image, _ in rows)
    parts = map(set, split_rows(list(images), shares, source))
    return [[row for row in rows if row[0] in part] for part in parts]


#: slot number_items


class Pairs(Dataset):
    """Images, each with a text that belongs to it."""

    def __init__(self, rows: list[Row], config) -> None:
        self.rows, self.config = rows, config

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Sample:
        (image, text), numbers = self.rows[index], number_items(self.config)
        #: region pixels when dataset=digits|images
        pixels = read_image(image, self.config)
        #: end pixels
        #: region stored when dataset=hub_images
        pixels = read_image(BytesIO(read_stored(image, self.config)), self.config)
        #: end stored
        return pixels, text, (numbers[image], numbers[text])


@cache
def build_datasets(config) -> list[Dataset]:
    """The pairs for training, validation and test."""
    return [Pairs(rows, config) for rows in load_rows(config)]


#: slot tokenizer


#: slot tokenize


def collate(samples: list[Sample], config) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """A batch of images, tokens, their mask, and the numbers of images and texts."""
    images, texts, numbers = zip(*samples, strict=True)
    return torch.stack(images), *tokenize(texts, config), torch.tensor(numbers)


def count_cut(config) -> int:
    """How many texts of the first 1,000 training rows fill --max-length."""
    texts = [text for _, text in load_rows(config)[0][:1000]]
    _, mask = tokenize(texts, config)
    return int((mask.sum(dim=1) == config.max_length).sum())


#: slot datasets


#: slot build_loaders
#: end file

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import numpy as np
from datasets import DatasetDict
from datasets import Image as ImageColumn
from PIL import Image, ImageOps
from sklearn.datasets import load_digits

from lib.hub import load_splits
from lib.images import FORMATS, to_rgb
from lib.json_lines import holds_objects, read_objects
from lib.notes import note_ignored
from lib.rows import check_row
from lib.tables import read_table

#: replace few
f"{source}: {len(rows)} images can't be split into training, validation and test: "
"use 10 or more."

#: slot load_rows when dataset=digits
SIZE = 8  # pixels, both ways
NAMES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
WORDINGS = "a handwritten {}", "the digit {} in white on black", "somebody wrote the number {}"


@cache
def load_images() -> Tensor:
    """1797 handwritten digits, white on black, shape (1797, 1, 8, 8)."""
    return torch.tensor(load_digits().images, dtype=torch.float32).unsqueeze(1) / 16


@cache
def load_rows(config) -> list[list[Row]]:
    """Each digit three times, with its name in different wordings, in three splits."""
    names = [NAMES[label] for label in load_digits().target]
    rows = [(image, text.format(name)) for image, name in enumerate(names) for text in WORDINGS]
    return split_by_image(rows, [0.8, 0.1, 0.1])

#: slot read_image when dataset=digits
def read_image(image: int, config) -> Tensor:
    """The digit with this number, shape (1, 8, 8)."""
    return load_images()[image]

#: slot check_row when dataset=images
def check_pair(columns: list[str], folder: Path, placed: tuple[str, dict]) -> Row:
    """The image of a row, relative to this folder, and its text, after checking both."""
    place, row = placed
    name, text = check_row(row, columns, place, "--pair-columns")
    if problem := look_at(folder / name):
        raise SystemExit(f"{place}: {folder / name} can't be read as an image: {problem}")
    return folder / name, text


@cache
def look_at(path: Path) -> str:
    """Why an image can't be read, or nothing. One with several texts is read once."""
    return find_problem(path)

#: slot load_rows when dataset=hub_images
@cache
def load_pictures(config) -> DatasetDict:
    """All splits of a dataset of Hugging Face, with images as undecoded files."""
    name, columns = config.dataset_name, config.pair_columns.split(",")
    splits = load_splits(config)
    found = splits["train"].features
    for column in columns:
        if column not in found:
            raise SystemExit(
                f"{name} has no column {column!r}, only {', '.join(found)}. Set --pair-columns."
            )
    if not isinstance(found[columns[0]], ImageColumn):
        raise SystemExit(f"The column {columns[0]!r} of {name} holds no images.")
    return splits.cast_column(columns[0], ImageColumn(decode=False))


@cache
def load_rows(config) -> list[list[Row]]:
    """The images of the splits train, validation (or dev) and test, each with one of its texts.

    A missing split is replaced by a tenth of the training images. Equal images are identified by
    the split and row of the first one.
    """
    places, parts = {}, {}
    for part, split in load_pictures(config).items():
        rows = parts[{"dev": "validation"}.get(part, part)] = []
        for row, texts in enumerate(split[config.pair_columns.split(",")[1]]):
            place = f"{config.dataset_name}, {part}, row {row + 1}"
            stored = read_stored((part, row), config)
            if find_problem(BytesIO(stored)):
                raise SystemExit(f"{place}: its image can't be read.")
            image = places.setdefault(sha256(stored).digest(), (part, row))
            for text in texts if isinstance(texts, list) else [texts]:
                if not isinstance(text, str) or not text.strip():
                    raise SystemExit(f"{place}: its text is not text, but {text!r:.60}.")
                rows.append((image, text))
    train_rows = parts["train"]
    for part in ("validation", "test"):
        if not parts.get(part):
            train_rows, parts[part] = split_by_image(train_rows, [0.9, 0.1], config.dataset_name)
    return [train_rows, parts["validation"], parts["test"]]


def read_stored(image: tuple[str, int], config) -> bytes:
    """The file of an image, which is a row of a split. Empty: the row has none."""
    part, row = image
    stored = load_pictures(config)[part][row][config.pair_columns.split(",")[0]]
    if stored is None:
        return b""
    return stored["bytes"] or Path(stored["path"]).read_bytes()

#: slot find_problem when dataset=images|hub_images
def find_problem(file: Path | BinaryIO) -> str:
    """Why an image can't be read, or nothing."""
    try:
        with Image.open(file, formats=FORMATS) as picture:
            to_rgb(picture)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        return str(error)
    return ""

#: slot read_image when dataset=images|hub_images
def read_image(file: Path | BinaryIO, config) -> Tensor:
    """The center crop of an image, upright, as RGB, shape (3, size, size)."""
    with Image.open(file, formats=FORMATS) as picture:
        square = ImageOps.fit(to_rgb(picture), (config.image_size, config.image_size))
    return torch.from_numpy(np.array(square)).permute(2, 0, 1) / 255

#: slot load_rows when dataset=images
@cache
def load_rows(config) -> list[list[Row]]:
    """Rows for training, validation and test. A split without a file is a tenth of `path`."""
    paths = [config.val_path, config.test_path]
    shares = [0.0 if path else 0.1 for path in paths]
    rows = read_rows(config.path, config)
    parts = split_by_image(rows, [1 - sum(shares), *shares], config.path)
    files = ["", *paths]
    return [
        read_rows(path, config) if path else part for path, part in zip(files, parts, strict=True)
    ]

#: slot read_rows when dataset=images
def read_rows(path: str, config) -> list[Row]:
    """The image and the text of each row of a file."""
    columns = config.pair_columns.split(",")
    found = list(read_objects(path) if holds_objects(path) else read_table(path))
    check = partial(check_pair, columns, Path(path).parent)
    with ThreadPoolExecutor() as pool:  # threads can decode images at the same time
        rows = list(pool.map(check, found))
    if not rows:
        raise SystemExit(f"{path} has no rows.")
    note_ignored(path, (name for _, row in found for name in row), columns)
    return rows

#: slot number_items when dataset=digits
@cache
def number_items(config) -> dict[int | str, int]:
    """The number of each image and of each text of all parts."""
    items = (item for part in load_rows(config) for row in part for item in row)
    return {item: number for number, item in enumerate(dict.fromkeys(items))}

#: slot number_items when dataset=images
@cache
def number_items(config) -> dict[Path | str, int]:
    """The number of each image and of each text of all parts."""
    items = (item for part in load_rows(config) for row in part for item in row)
    return {item: number for number, item in enumerate(dict.fromkeys(items))}

#: slot number_items when dataset=hub_images
@cache
def number_items(config) -> dict[tuple[str, int] | str, int]:
    """The number of each image and of each text of all parts."""
    items = (item for part in load_rows(config) for row in part for item in row)
    return {item: number for number, item in enumerate(dict.fromkeys(items))}
