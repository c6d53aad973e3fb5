"""The data: {{ task.inputs_shape }},
{{ task.texts_shape }}
{{ task.sizes_shape }}

{{ task.padding }}
"""

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


#: slot list_letters


#: slot prepare


#: slot samples


def build_datasets(config) -> list[Dataset]:
    """Training, validation and test data."""
    parts = load_rows(config)
    #: slot left_out
    return [Sounds(part, config) for part in parts]


#: slot collate


#: slot datasets


#: slot build_loaders
