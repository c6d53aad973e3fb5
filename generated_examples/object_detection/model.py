"""The model: images in, boxes and a logit for each class out."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from boxes import STRIDE, find_centers
from data import class_names


class Detector(nn.Module):
    """A box and a logit for each class at places that are 4 pixels apart.

    The output has the shape (batch, places, 4 + classes): the box in pixels, then the logits. The
    backbone returns features at strides 4, 8, 16 and 32, which are added up from coarse to fine: a
    feature pyramid (Lin and others 2017, https://arxiv.org/abs/1612.03144). Its finest level
    predicts objects of all sizes.
    """

    def __init__(self, backbone: nn.Module, channels: list[int], classes: int, width: int) -> None:
        super().__init__()
        self.backbone = backbone
        self.side = nn.ModuleList(nn.Conv2d(size, width, kernel_size=1) for size in channels)
        self.levels = nn.ModuleList(build_level(width, width) for _ in channels[1:])
        self.head = nn.Conv2d(width, 4 + classes, kernel_size=1)
        nn.init.constant_(self.head.bias[4:], -4.6)  # at first, all scores are about 0.01

    def forward(self, images: Tensor) -> Tensor:
        features = self.backbone(images)
        *finer, x = (side(part) for side, part in zip(self.side, features, strict=True))
        for level, above in zip(self.levels, reversed(finer), strict=True):
            x = level(above + F.interpolate(x, above.shape[-2:]))
        values = self.head(x).float().flatten(2).transpose(1, 2)
        moves, sizes, logits = values.split([2, 2, values.shape[2] - 4], dim=2)
        centers = find_centers(values.shape[1], values.device) + STRIDE * moves
        half = STRIDE * sizes.clamp(max=8).exp() / 2
        return torch.cat([centers - half, centers + half, logits], dim=2)


def build_level(inputs: int, outputs: int, stride: int = 1) -> nn.Sequential:
    """Two convolutions."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel_size=3, stride=stride, padding=1),
        nn.GroupNorm(8, outputs),
        nn.ReLU(),
        nn.Conv2d(outputs, outputs, kernel_size=3, padding=1),
        nn.GroupNorm(8, outputs),
        nn.ReLU(),
    )


class Backbone(nn.Module):
    """Features of images, shape (batch, 3, height, width), at strides 4, 8, 16 and 32."""

    def __init__(self, widths: list[int]) -> None:
        super().__init__()
        pairs = zip([3, *widths], widths, strict=False)
        self.levels = nn.ModuleList(build_level(*pair, stride=2) for pair in pairs)

    def forward(self, images: Tensor) -> list[Tensor]:
        features = [images]
        for level in self.levels:
            features.append(level(features[-1]))
        return features[2:]


def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    names = class_names(config)
    if config.width % 8:
        raise SystemExit(f"--width {config.width} is not a multiple of 8, the number of groups.")
    widths = [config.width * factor for factor in (1, 2, 4, 4, 4)]
    return Detector(Backbone(widths), widths[1:], len(names), 2 * config.width)
