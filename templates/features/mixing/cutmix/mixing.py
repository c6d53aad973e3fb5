#: file when kind=cutmix
"""CutMix: a box cut out of another image. Yun et al. 2019, https://arxiv.org/abs/1905.04899."""

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.distributions import Beta


def mix(
    images: Tensor, labels: Tensor, alpha: float, probability: float
) -> tuple[Tensor, Tensor, float]:
    """Images with a box from other images, the labels of the others, and the share of the first.

    The box is drawn on the CPU, so nothing waits for the device.
    """
    share = Beta(alpha, alpha).sample().item() if alpha and torch.rand(()) < probability else 1.0
    height, width = images.shape[-2:]
    box_height, box_width = (round(size * (1 - share) ** 0.5) for size in (height, width))
    row, column = (int(torch.randint(size, ())) for size in (height, width))  # the box's center
    top, left = max(0, row - box_height // 2), max(0, column - box_width // 2)
    bottom = min(height, row - box_height // 2 + box_height)
    right = min(width, column - box_width // 2 + box_width)
    #: region order
    order = torch.randperm(len(images), device=images.device)
    #: end order
    mixed = images.clone()
    mixed[..., top:bottom, left:right] = images[order, :, top:bottom, left:right]
    return mixed, labels[order], 1 - (bottom - top) * (right - left) / (height * width)


def blend(labels: Tensor, others: Tensor, share: float, classes: int) -> Tensor:
    """The targets: the share of each class, shape (batch, classes)."""
    return share * F.one_hot(labels, classes) + (1 - share) * F.one_hot(others, classes)
