#: file when model=small|timm
"""The model: images in, {{ task.found }} out."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from boxes import STRIDE, find_centers
from data import class_names


class Detector(nn.Module):
    """A box and a logit for each class at places that are 4 pixels apart.

    #: region output
    The output has the shape (batch, places, 4 + classes): the box in pixels, then the logits. The
    #: end output
    backbone returns features at strides 4, 8, 16 and 32, which are added up from coarse to fine: a
    feature pyramid (Lin and others 2017, https://arxiv.org/abs/1612.03144). Its finest level
    predicts objects of all sizes.
    """

    def __init__(self, backbone: nn.Module, channels: list[int], classes: int, width: int) -> None:
        super().__init__()
        self.backbone = backbone
        self.side = nn.ModuleList(nn.Conv2d(size, width, kernel_size=1) for size in channels)
        self.levels = nn.ModuleList(build_level(width, width) for _ in channels[1:])
        #: region head
        self.head = nn.Conv2d(width, 4 + classes, kernel_size=1)
        nn.init.constant_(self.head.bias[4:], -4.6)  # at first, all scores are about 0.01
        #: end head

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


#: slot model


def build_model(
    config
    #: slot parameters
) -> nn.Module:
    """The model, before it is prepared."""
    #: region names
    names = class_names(config)
    #: end names
    ...  #: slot build_model
#: end file

import timm

from lib.access import check_hub
from masks import FEATURES

#: replace output when find=masks
The output has the shape (batch, places, 4 + classes + 2 * FEATURES): the box in pixels, the
logits, and weights and features for masks, which split() of masks.py takes apart. The

#: replace head when find=masks
self.head = nn.Conv2d(width, 4 + classes + 2 * FEATURES, kernel_size=1)
nn.init.constant_(self.head.bias[4 : 4 + classes], -4.6)  # at first, all scores are about 0.01

#: slot model when model=small
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

#: slot build_model when model=small
if config.width % 8:
    raise SystemExit(f"--width {config.width} is not a multiple of 8, the number of groups.")
widths = [config.width * factor for factor in (1, 2, 4, 4, 4)]
return Detector(Backbone(widths), widths[1:], len(names), 2 * config.width)

#: slot model when model=timm
class Backbone(nn.Module):
    """Features of a timm model for images from 0 to 1, which it normalizes."""

    def __init__(self, model: nn.Module, levels: list[int]) -> None:
        super().__init__()
        self.model, self.levels = model, levels
        self.register_buffer("mean", torch.tensor(model.pretrained_cfg["mean"]).reshape(3, 1, 1))
        self.register_buffer("std", torch.tensor(model.pretrained_cfg["std"]).reshape(3, 1, 1))

    def forward(self, images: Tensor) -> list[Tensor]:
        features = self.model((images - self.mean) / self.std)
        return [features[level] for level in self.levels]

#: slot build_model when model=timm
if config.width % 8:
    raise SystemExit(f"--width {config.width} is not a multiple of 8, the number of groups.")
if not timm.is_model(config.backbone):
    raise SystemExit(f"timm has no {config.backbone}: timm.list_models() lists all names.")
hub_name = timm.get_pretrained_cfg(config.backbone).hf_hub_id
if config.pretrained and hub_name:
    check_hub(hub_name)
try:
    model = timm.create_model(config.backbone, pretrained=config.pretrained, features_only=True)
except (AttributeError, RuntimeError) as error:
    raise SystemExit(f"{config.backbone} returns no features at several levels: {error}") from error
strides = model.feature_info.reduction()
if not {4, 8, 16, 32} <= {*strides}:
    raise SystemExit(
        f"{config.backbone} has features at strides {strides}. "
        "Choose one with 4, 8, 16 and 32, such as resnet18 or convnext_tiny."
    )
levels = [strides.index(stride) for stride in (4, 8, 16, 32)]
channels = [model.feature_info.channels()[level] for level in levels]
return Detector(Backbone(model, levels), channels, len(names), config.width)
