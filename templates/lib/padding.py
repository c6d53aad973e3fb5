#: into data.py at datasets
"""Rows of tokens of different lengths."""

from collections.abc import Sequence

from torch import Tensor
from torch.nn.utils.rnn import pad_sequence


def pad(rows: Sequence[Tensor], value: int = 0) -> Tensor:
    """Rows padded to the same length, shape (batch, length)."""
    #: region pad
    return pad_sequence(list(rows), batch_first=True, padding_value=value)
    #: end pad
