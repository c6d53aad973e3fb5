import torch
from torch import Tensor

#: slot classes
def hide_padding(scores: Tensor, mask: Tensor) -> Tensor:
    """The scores, (batch, choices), with -inf for padded choices.

    The mask has the shape (batch, choices, length).
    """
    return scores.masked_fill(~mask.any(dim=2), -torch.inf)
