"""The data: {{ task.inputs_shape }},
their true lengths, shape (batch,), their texts as letter ids, (batch, letters), and the
sizes of the texts, (batch,).

A length counts {{ task.length_unit }} without the padding at the end, a size counts letters.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset


class Row(NamedTuple):
    """A sound and its text."""

    sound: {{ task.sound }}
    text: str
    #: slot row


#: slot load_splits


#: slot load_rows


#: slot read_rows


#: slot row_readers


#: slot check_row


#: slot load_sound


#: slot split_rows


#: slot letters
@cache
def list_letters(config) -> list[str]:
    """The letters of all texts, after the blank and the space. The id of a letter is its index."""
    used = {letter for part in load_rows(config) for row in part for letter in row.text}
    #: slot known_letters
    return ["", " ", *sorted(used - {" "})]


#: slot prepare


class Sounds(Dataset):
    """The model input of each sound, and its text as letter ids."""

    def __init__(self, rows: list[Row], config) -> None:
        self.rows, self.config = rows, config
        self.numbers = {letter: number for number, letter in enumerate(list_letters(config))}

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        row = self.rows[index]
        sound = load_sound(row, sample_rate(self.config))
        text = torch.tensor([self.numbers[letter] for letter in row.text], dtype=torch.long)
        return prepare(sound, self.config), text


def build_datasets(config) -> list[Dataset]:
    """Training, validation and test data."""
    parts = load_rows(config)
    #: slot left_out
    return [Sounds(part, config) for part in parts]


def pad(rows: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Rows padded to the longest, and their true lengths."""
    lengths = torch.tensor([len(row) for row in rows])
    #: region padded
    return pad_sequence(list(rows), batch_first=True), lengths
    #: end padded


def collate(samples: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """A batch of sounds and texts, each padded to the longest."""
    sounds, texts = zip(*samples, strict=True)
    return *pad(sounds), *pad(texts)


#: slot datasets


#: slot build_loaders
