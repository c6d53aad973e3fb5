from itertools import pairwise
from math import ceil

#: replace autoencoder
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
