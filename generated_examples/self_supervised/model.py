"""The model: images in, features out. In training, also projections to compare."""

import torch.nn.functional as F
from torch import Tensor, nn

from data import SIZE


class ConvNet(nn.Module):
    """Features of grayscale images: (batch, 1, size, size) to (batch, features)."""

    def __init__(self, size: int, width: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        before, after = 1, width
        while size >= 4:  # each level sees the image at half the size
            for inputs in (before, after):
                layers += [nn.Conv2d(inputs, after, kernel_size=3, padding=1)]
                layers += [nn.GroupNorm(8, after), nn.ReLU()]
            layers.append(nn.MaxPool2d(2))
            size, before, after = size // 2, after, min(2 * after, 8 * width)
        self.features = before
        self.layers = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())

    def forward(self, images: Tensor) -> Tensor:
        return self.layers(images)


class Projected(nn.Module):
    """Features of images, shape (batch, features), or projections to compare in training.

    A small network projects the features. The product of two of its outputs, shape (batch, width),
    is their cosine similarity divided by the temperature. Chen and others 2020,
    https://arxiv.org/abs/2002.05709
    """

    def __init__(self, encoder: nn.Module, features: int, config) -> None:
        super().__init__()
        self.encoder = encoder
        self.projector = nn.Sequential(
            nn.Linear(features, features), nn.ReLU(), nn.Linear(features, config.projection)
        )
        self.length = config.temperature**-0.5

    def forward(self, images: Tensor, project: bool = False) -> Tensor:
        features = self.encoder(images)
        return self.length * F.normalize(self.projector(features), dim=1) if project else features


def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    if config.width % 8:
        raise SystemExit(f"--width {config.width} is not a multiple of 8, the number of groups.")
    encoder = ConvNet(SIZE, config.width)
    return Projected(encoder, encoder.features, config)
