"""The data: {{ task.inputs_shape }},
their true lengths, shape (batch,), and labels, (batch,).

A length counts {{ task.length_unit }} without the padding at the end.
"""

import torch
from torch import Tensor
from torch.utils.data import Dataset, random_split


class Sounds(Dataset):
    """The model input of each sound, its length, and its label."""

    def __init__(self, sounds: list[{{ task.sound }}], labels: list[int], config) -> None:
        self.sounds, self.labels, self.config = sounds, labels, config

    def __len__(self) -> int:
        return len(self.sounds)

    def __getitem__(self, index: int) -> tuple[Tensor, int, int]:
        #: region sound
        sound = self.sounds[index]
        #: end sound
        return *prepare(sound, self.config), self.labels[index]


#: slot build_datasets


#: slot prepare


#: slot datasets


#: slot build_loaders
