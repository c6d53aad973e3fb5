#: file when project.task=diffusion|gan
"""The distance between generated and real images."""

import torch
from torch import Tensor


class Moments:
    """Mean and covariance of {{ task.pixels }}, added up batch by batch.

    They are computed on the CPU, because not every device has double precision.
    """

    def __init__(self) -> None:
        self.count, self.sum, self.products = 0, 0.0, 0.0

    def add(self, images: Tensor) -> None:
        #: region pixels
        pixels = images.flatten(1).cpu().double()
        #: end pixels
        self.count += len(pixels)
        self.sum += pixels.sum(dim=0)
        self.products += pixels.T @ pixels

    @property
    def mean(self) -> Tensor:
        return self.sum / self.count

    @property
    def covariance(self) -> Tensor:
        return self.products / self.count - self.mean.outer(self.mean)


def frechet_distance(one: Moments, other: Moments) -> float:
    """The squared Fréchet distance between normal distributions with these moments.

    Dowson and Landau 1982, https://doi.org/10.1016/0047-259X(82)90077-X. The FID is this distance
    for the features of a network, where this project uses pixels.
    """
    roots = matrix_root(one.covariance) @ matrix_root(other.covariance)
    spread = one.covariance.trace() + other.covariance.trace()
    shift = (one.mean - other.mean).square().sum()
    return float(shift + spread - 2 * torch.linalg.matrix_norm(roots, "nuc"))


def matrix_root(matrix: Tensor) -> Tensor:
    """The square root of a symmetric matrix without negative eigenvalues."""
    values, vectors = torch.linalg.eigh(matrix)
    return vectors * values.clamp(min=0).sqrt() @ vectors.T
#: end file

import torch.nn.functional as F

#: replace pixels when dataset=image_folder
pixels = F.adaptive_avg_pool2d(images, 8).flatten(1).cpu().double()
