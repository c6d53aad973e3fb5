#: file
"""The losses of the two competing models.

These are the non-saturating losses of Goodfellow et al. 2014, https://arxiv.org/abs/1406.2661,
written with softplus(x) = log(1 + exp(x)) = -log(sigmoid(-x)).
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def compute_discriminator_loss(discriminator: nn.Module, images: Tensor, fakes: Tensor) -> Tensor:
    """The mean over pairs of a real and a generated image. Low if the discriminator is right.

    The penalty on its slope at real images keeps the discriminator from getting too far ahead: R1
    of Mescheder et al. 2018, https://arxiv.org/abs/1801.04406. It grows with the size of images,
    as in Karras et al. 2020, https://arxiv.org/abs/2006.06676.
    """
    images = images.detach().requires_grad_()
    # one call for both: on several processes a model may be called once per backward pass
    real, fake = discriminator(torch.cat([images, fakes])).chunk(2)
    (slopes,) = torch.autograd.grad(real.sum(), images, create_graph=True)
    slope = slopes.square().sum(dim=(1, 2, 3))
    penalty = images[0].numel() / 16
    return (F.softplus(-real) + F.softplus(fake) + 0.5 * penalty * slope).mean()


def compute_generator_loss(discriminator: nn.Module, fakes: Tensor) -> Tensor:
    """The mean over generated images. Low if the discriminator takes them for real."""
    return F.softplus(-discriminator(fakes)).mean()
