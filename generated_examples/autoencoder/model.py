"""The model: images in, images out, through a short latent code."""

from torch import Tensor, nn

from data import SIZE


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
