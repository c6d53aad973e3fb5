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

Row = tuple[{{ task.picture }}, str]  # an image, and a text that belongs to it
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


def split_by_image(rows: list[Row], shares: list[float]) -> list[list[Row]]:
    """The rows in splits of these sizes, the same in each run. Rows of an image stay together."""
    images = dict.fromkeys(image for image, _ in rows)
    parts = map(set, split_rows(list(images), shares))
    return [[row for row in rows if row[0] in part] for part in parts]


@cache
def number_items(config) -> dict[{{ task.picture }} | str, int]:
    """The number of each image and of each text of all parts."""
    items = (item for part in load_rows(config) for row in part for item in row)
    return {item: number for number, item in enumerate(dict.fromkeys(items))}


class Pairs(Dataset):
    """Images, each with a text that belongs to it."""

    def __init__(self, rows: list[Row], config) -> None:
        self.rows, self.config = rows, config

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Sample:
        (image, text), numbers = self.rows[index], number_items(self.config)
        #: region pixels
        pixels = read_image(image, self.config)
        #: end pixels
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
