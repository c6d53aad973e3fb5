"""The data: batches of sources, inputs and targets, tokens of shape (batch, length).

The inputs of the decoder are the targets shifted by one: START and all tokens but the last.
Shorter sources and inputs are padded with PADDING, and shorter targets with IGNORED.
"""

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset, random_split

from metrics import IGNORED
from model import END, PADDING, START

#: slot read_pairs


class Pairs(Dataset):
    """Sources and targets as tokens, each followed by END."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self.pairs = [[encode(text) for text in pair] for pair in pairs]

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, index: int) -> list[Tensor]:
        return self.pairs[index]


def encode(text: str) -> Tensor:
    """The bytes of a text, and END."""
    return torch.tensor([*text.encode(), END])


def collate(pairs: list[list[Tensor]]) -> tuple[Tensor, Tensor, Tensor]:
    """A batch of sources, inputs and targets, each padded to its longest."""
    sources, targets = zip(*pairs, strict=True)
    start = torch.tensor([START])
    inputs = [torch.cat([start, target[:-1]]) for target in targets]
    #: region padding
    return (
        pad_sequence(sources, batch_first=True, padding_value=PADDING),
        pad_sequence(inputs, batch_first=True, padding_value=PADDING),
        pad_sequence(targets, batch_first=True, padding_value=IGNORED),
    )
    #: end padding


def build_datasets(config) -> list[Dataset]:
    """Pairs for training, validation and test."""
    #: region split
    # a seed of its own: another --seed must not move test samples into the training data
    split = torch.Generator().manual_seed(0)
    return random_split(Pairs(read_pairs(config)), [0.8, 0.1, 0.1], generator=split)
    #: end split


#: slot datasets


#: slot build_loaders
