#: file when method=simclr
"""How close views of images are: those of all processes, and what competes with what."""

import torch
from torch import Tensor

from lib.contrast import contrast

#: slot losses


def compare_views(vectors: Tensor, others: Tensor, places: Tensor) -> Tensor:
    """The loss of each image: each view has to find the other one among all views (NT-Xent).

    `vectors` are the views of these images, (batch, 2, width), and `others` those of all images,
    (images, 2, width). `places` are the indices of the former in the latter.
    Chen and others 2020, https://arxiv.org/abs/2002.05709,
    formula 1
    """
    own = (vectors[:, 0] * vectors[:, 1]).sum(dim=1, keepdim=True)
    others = others.transpose(0, 1)
    same = places.unsqueeze(1) == torch.arange(others.shape[1], device=places.device)
    losses = []
    for view in (0, 1):
        similarities = (vectors[:, view] @ others.transpose(1, 2)).masked_fill(same, -torch.inf)
        # (2, batch, images) to the views of all other images, in one row
        losses.append(contrast(own, torch.cat([*similarities], dim=1), temperature=1))
    return torch.stack(losses).mean(dim=0)
