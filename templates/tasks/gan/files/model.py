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
