#: into model.py at functions
"""Vectors of texts."""

import torch.nn.functional as F
from torch import Tensor


def pool(states: Tensor, mask: Tensor) -> Tensor:
    """The mean over the tokens of each text, as unit vectors, (batch, width).

    `states` have the shape (batch, length, width). Padding does not count.
    """
    mask = mask.unsqueeze(2)
    return F.normalize((states * mask).sum(dim=1) / mask.sum(dim=1), dim=1)
