"""The model: images in, one logit for each class and pixel out."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from data import CLASSES


class UNet(nn.Module):
    """Logits (batch, classes, height, width) for images (batch, 3, height, width).

    Each level sees the image at half the size of the one above. On the way up, a level also gets
    the features of the same level on the way down. https://arxiv.org/abs/1505.04597
    """

    def __init__(self, classes: int, width: int) -> None:
        super().__init__()
        one, two, three = width, 2 * width, 4 * width
        self.down = nn.ModuleList(
            [build_level(3, one), build_level(one, two), build_level(two, three)]
        )
        self.bottom = build_level(three, three)
        self.up = nn.ModuleList(
            [build_level(2 * three, two), build_level(2 * two, one), build_level(2 * one, one)]
        )
        self.head = nn.Conv2d(one, classes, kernel_size=1)

    def forward(self, images: Tensor) -> Tensor:
        x, seen = images, []
        for level in self.down:
            x = level(x)
            seen.append(x)
            x = F.max_pool2d(x, 2)
        x = self.bottom(x)
        for level in self.up:
            above = seen.pop()
            x = F.interpolate(x, above.shape[-2:])  # also for sizes that are not multiples of 8
            x = level(torch.cat([x, above], dim=1))
        return self.head(x)


def build_level(inputs: int, outputs: int) -> nn.Sequential:
    """Two convolutions."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel_size=3, padding=1),
        nn.GroupNorm(8, outputs),
        nn.ReLU(),
        nn.Conv2d(outputs, outputs, kernel_size=3, padding=1),
        nn.GroupNorm(8, outputs),
        nn.ReLU(),
    )


def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    if config.width % 8:
        raise SystemExit(f"--width {config.width} is not a multiple of 8, the number of groups.")
    return UNet(len(CLASSES), config.width)
