#: file
"""The model: images in, images out, through a short latent code."""

from torch import Tensor, nn

#: slot functions


#: region autoencoder
class Autoencoder(nn.Module):
    """Images of shape (batch, 1, SIZE, SIZE), encoded to shape (batch, latent) and decoded."""

    def __init__(self, latent: int, width: int = 32) -> None:
        super().__init__()
        small = SIZE // 4  # two convolutions halve the image
        self.encoder = nn.Sequential(
            nn.Conv2d(1, width, kernel_size=3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(width, 2 * width, kernel_size=3, stride=2, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(2 * width * small**2, latent),
        )
        self.decoder = nn.Sequential(
            nn.Linear(latent, 2 * width * small**2),
            nn.ReLU(),
            nn.Unflatten(1, (2 * width, small, small)),
            nn.ConvTranspose2d(2 * width, width, kernel_size=4, stride=2, padding=1),
            nn.ReLU(),
            nn.ConvTranspose2d(width, 1, kernel_size=4, stride=2, padding=1),
            nn.Sigmoid(),
        )

    def forward(self, images: Tensor) -> Tensor:
        return self.decoder(self.encoder(images))


def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    return Autoencoder(config.latent)


#: end autoencoder
#: end file

from itertools import pairwise
from math import ceil

from data import SIZE
from lib.models import choose_widths

#: replace autoencoder when dataset=image_folder
class Autoencoder(nn.Module):
    """RGB images, shape (batch, 3, size, size), encoded to shape (batch, latent) and decoded.

    Without GroupNorm, signals would vanish in the many layers for large images at first.
    """

    def __init__(self, size: int, latent: int) -> None:
        super().__init__()
        self.size = size
        widths = choose_widths(size)
        small = ceil(size / 2 ** (len(widths) - 1))
        encoder: list[nn.Module] = [nn.Conv2d(3, widths[0], kernel_size=3, padding=1), nn.ReLU()]
        for before, after in pairwise(widths):
            encoder.append(nn.Conv2d(before, after, kernel_size=3, stride=2, padding=1))
            encoder += [nn.GroupNorm(8, after), nn.ReLU()]
        decoder: list[nn.Module] = []
        for before, after in pairwise(reversed(widths)):
            decoder.append(nn.ConvTranspose2d(before, after, kernel_size=4, stride=2, padding=1))
            decoder += [nn.GroupNorm(8, after), nn.ReLU()]
        self.encoder = nn.Sequential(
            *encoder, nn.Flatten(), nn.Linear(widths[-1] * small**2, latent)
        )
        self.decoder = nn.Sequential(
            nn.Linear(latent, widths[-1] * small**2),
            nn.ReLU(),
            nn.Unflatten(1, (widths[-1], small, small)),
            *decoder,
            nn.Conv2d(widths[0], 3, kernel_size=3, padding=1),
            nn.Sigmoid(),
        )

    def forward(self, images: Tensor) -> Tensor:
        outputs = self.decoder(self.encoder(images))
        return outputs[..., : self.size, : self.size]  # larger if the size is not a power of 2


def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    return Autoencoder(config.image_size, config.latent)
