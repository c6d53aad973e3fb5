"""The data: batches of sources, inputs and targets, tokens of shape (batch, length).

The inputs of the decoder are the targets shifted by one: a start token and all tokens but the last.
Shorter sources and inputs are padded, and shorter targets with IGNORED.
"""

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset

from metrics import IGNORED

#: slot load_splits


#: slot complete_splits


#: slot load_pairs


#: slot row_readers


class Pairs(Dataset):
    """Sources and targets as tokens, each with an end token."""

    #: slot encode_pairs
    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, index: int) -> list[Tensor]:
        return self.pairs[index]


#: slot collate


def build_datasets(config) -> list[Dataset]:
    """Pairs for training, validation and test."""
    #: region datasets
    return [Pairs(pairs) for pairs in load_pairs(config)]
    #: end datasets


#: slot datasets


#: slot build_loaders
