#: file
"""The generator: noise in, images out. The discriminator: images in, a logit for each out."""

import torch
from torch import Tensor, nn

#: slot functions


#: region models
class Generator(nn.Module):
    """Images of shape (batch, 1, SIZE, SIZE), from 0 to 1, from noise of shape (batch, latent).

    GroupNorm normalizes each sample by itself. With BatchNorm, the result would depend on the
    number of processes.
    """

    def __init__(self, latent: int, width: int = 16) -> None:
        super().__init__()
        self.latent = latent
        small = SIZE // 4  # two convolutions double it
        self.layers = nn.Sequential(
            nn.Linear(latent, 4 * width * small**2),
            nn.Unflatten(1, (4 * width, small, small)),
            nn.GroupNorm(8, 4 * width),
            nn.ReLU(),
            nn.ConvTranspose2d(4 * width, 2 * width, kernel_size=4, stride=2, padding=1),
            nn.GroupNorm(8, 2 * width),
            nn.ReLU(),
            nn.ConvTranspose2d(2 * width, width, kernel_size=4, stride=2, padding=1),
            nn.GroupNorm(8, width),
            nn.ReLU(),
            nn.Conv2d(width, 1, kernel_size=3, padding=1),
            nn.Sigmoid(),
        )

    def forward(self, noise: Tensor) -> Tensor:
        return self.layers(noise)


class Discriminator(nn.Module):
    """Logits of shape (batch,) for images of shape (batch, 1, SIZE, SIZE): above 0 if real."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, width, kernel_size=3, padding=1),
            nn.LeakyReLU(0.2),
            nn.Conv2d(width, 2 * width, kernel_size=4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Conv2d(2 * width, 4 * width, kernel_size=4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Conv2d(4 * width, 1, kernel_size=SIZE // 4),
        )

    def forward(self, images: Tensor) -> Tensor:
        return self.layers(images).flatten()


def build_model(config) -> nn.Module:
    """The generator, before it is prepared."""
    return Generator(config.latent)


def build_discriminator(config) -> nn.Module:
    """The discriminator, before it is prepared."""
    return Discriminator()


#: end models
def fixed_noise(first: int, count: int, latent: int) -> Tensor:
    """Noise of shape (count, latent) for the samples `first`, `first + 1`, ...

    The number of a sample is its seed. The random state of training does not change.
    """
    generators = [torch.Generator().manual_seed(first + row) for row in range(count)]
    return torch.stack([torch.randn(latent, generator=generator) for generator in generators])
#: end file

from itertools import pairwise
from math import ceil

from data import SIZE
from lib.models import choose_widths

#: replace models when dataset=image_folder
class Generator(nn.Module):
    """RGB images, shape (batch, 3, size, size), from 0 to 1, from noise, shape (batch, latent).

    GroupNorm normalizes each sample by itself. With BatchNorm, the result would depend on the
    number of processes.
    """

    def __init__(self, size: int, latent: int) -> None:
        super().__init__()
        self.size, self.latent = size, latent
        widths = choose_widths(size)
        small = ceil(size / 2 ** (len(widths) - 1))
        layers: list[nn.Module] = [
            nn.Linear(latent, widths[-1] * small**2),
            nn.Unflatten(1, (widths[-1], small, small)),
            nn.GroupNorm(8, widths[-1]),
            nn.ReLU(),
        ]
        for before, after in pairwise(reversed(widths)):
            layers.append(nn.ConvTranspose2d(before, after, kernel_size=4, stride=2, padding=1))
            layers += [nn.GroupNorm(8, after), nn.ReLU()]
        layers += [nn.Conv2d(widths[0], 3, kernel_size=3, padding=1), nn.Sigmoid()]
        self.layers = nn.Sequential(*layers)

    def forward(self, noise: Tensor) -> Tensor:
        # larger if the size is not a power of 2
        return self.layers(noise)[..., : self.size, : self.size]


class Discriminator(nn.Module):
    """Logits, shape (batch,), for images, shape (batch, 3, size, size): above 0 if real."""

    def __init__(self, size: int) -> None:
        super().__init__()
        widths = choose_widths(size)
        small = ceil(size / 2 ** (len(widths) - 1))
        layers: list[nn.Module] = [nn.Conv2d(3, widths[0], kernel_size=3, padding=1)]
        for before, after in pairwise(widths):
            layers.append(nn.LeakyReLU(0.2))
            layers.append(nn.Conv2d(before, after, kernel_size=3, stride=2, padding=1))
        layers += [nn.LeakyReLU(0.2), nn.Conv2d(widths[-1], 1, kernel_size=small)]
        self.layers = nn.Sequential(*layers)

    def forward(self, images: Tensor) -> Tensor:
        return self.layers(images).flatten()


def build_model(config) -> nn.Module:
    """The generator, before it is prepared."""
    return Generator(config.image_size, config.latent)


def build_discriminator(config) -> nn.Module:
    """The discriminator, before it is prepared."""
    return Discriminator(config.image_size)
