"""The model: tokens and their mask in, a vector of length 1 for each text out."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def pool(states: Tensor, mask: Tensor) -> Tensor:
    """The mean over the tokens of each text, at length 1: (batch, width).

    `states` have the shape (batch, length, width). Padding does not count.
    """
    mask = mask.unsqueeze(2)
    return F.normalize((states * mask).sum(dim=1) / mask.sum(dim=1), dim=1)


#: slot functions


...  #: slot build_model
