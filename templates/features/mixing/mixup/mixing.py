#: file when kind=mixup
"""Mixup: blends of two images. Zhang et al. 2018, https://arxiv.org/abs/1710.09412."""

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.distributions import Beta


def mix(
    images: Tensor, labels: Tensor, alpha: float, probability: float
) -> tuple[Tensor, Tensor, float]:
    """Images blended with other images, the labels of the others, and the share of the first.

    The share is drawn on the CPU, so nothing waits for the device.
    """
    share = Beta(alpha, alpha).sample().item() if alpha and torch.rand(()) < probability else 1.0
    #: region order
    order = torch.randperm(len(images), device=images.device)
    #: end order
    return share * images + (1 - share) * images[order], labels[order], share


def blend(labels: Tensor, others: Tensor, share: float, classes: int) -> Tensor:
    """The targets: the share of each class, shape (batch, classes)."""
    return share * F.one_hot(labels, classes) + (1 - share) * F.one_hot(others, classes)
