"""The losses of the two models, which are each other's opponents.

The non-saturating losses of Goodfellow et al. 2014, https://arxiv.org/abs/1406.2661, written with
softplus(x) = log(1 + exp(x)) = -log(sigmoid(-x)).
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def loss_of_discriminator(
    discriminator: nn.Module, images: Tensor, fakes: Tensor, penalty: float = 4.0
) -> Tensor:
    """How badly real images are told from generated ones, averaged over the pairs of both.

    The penalty on the slope at real images keeps the discriminator from winning once and for all:
    R1 of Mescheder et al. 2018, https://arxiv.org/abs/1801.04406. Both kinds pass together, because
    on several processes a model should be called once for each backward.
    """
    images = images.detach().requires_grad_()
    real, fake = discriminator(torch.cat([images, fakes])).chunk(2)
    (slopes,) = torch.autograd.grad(real.sum(), images, create_graph=True)
    slope = slopes.square().sum(dim=(1, 2, 3))
    return (F.softplus(-real) + F.softplus(fake) + 0.5 * penalty * slope).mean()


def loss_of_generator(discriminator: nn.Module, fakes: Tensor) -> Tensor:
    """How little generated images are taken for real ones, averaged over them."""
    return F.softplus(-discriminator(fakes)).mean()
