#: file
"""The model: noisy images and their times in, predictions for denoising out."""

from torch import Tensor, nn

from data import image_shape

#: slot model


#: slot functions


def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    ...  #: slot build_model
#: end file

from math import log

import torch
import torch.nn.functional as F
from diffusers import UNet2DModel

from lib.access import check_hub

#: slot model when model=unet
class UNet(nn.Module):
    """Predictions for noisy images, in the same shape (batch, channels, height, width).

    Each level sees the images at half the size of the one above. On the way up, a level also gets
    the features of the same level on the way down. https://arxiv.org/abs/1505.04597
    """

    #: region signature
    def __init__(self, channels: int, width: int, levels: int) -> None:
        super().__init__()
        #: end signature
        widths, features = find_widths(width, levels), 4 * width
        self.width = width
        self.times = nn.Sequential(
            nn.Linear(width, features), nn.SiLU(), nn.Linear(features, features), nn.SiLU()
        )
        #: slot embedding
        self.first = nn.Conv2d(channels, width, kernel_size=3, padding=1)
        pairs = list(zip([width, *widths], widths, strict=False))
        self.down = nn.ModuleList(Block(before, after, features) for before, after in pairs)
        self.bottom = Block(widths[-1], widths[-1], features)
        self.up = nn.ModuleList(
            Block(2 * after, before, features) for before, after in reversed(pairs)
        )
        self.last = nn.Sequential(
            nn.GroupNorm(8, width), nn.SiLU(), nn.Conv2d(width, channels, kernel_size=3, padding=1)
        )

    #: region forward
    def forward(self, noisy: Tensor, times: Tensor) -> Tensor:
        known = self.times(embed_times(times, self.width))
        #: end forward
        x, seen = self.first(noisy), []
        for level, block in enumerate(self.down):
            x = block(F.avg_pool2d(x, 2) if level else x, known)
            seen.append(x)
        x = self.bottom(x, known)
        for block in self.up:
            above = seen.pop()
            x = F.interpolate(x, above.shape[-2:])  # for odd sizes, too
            x = block(torch.cat([x, above], dim=1), known)
        return self.last(x)


class Block(nn.Module):
    """Two convolutions around the conditioning features, shape (batch, features)."""

    def __init__(self, inputs: int, outputs: int, features: int) -> None:
        super().__init__()
        self.before = nn.Sequential(
            nn.GroupNorm(8, inputs),
            nn.SiLU(),
            nn.Conv2d(inputs, outputs, kernel_size=3, padding=1),
        )
        self.known = nn.Linear(features, outputs)
        self.after = nn.Sequential(
            nn.GroupNorm(8, outputs),
            nn.SiLU(),
            nn.Conv2d(outputs, outputs, kernel_size=3, padding=1),
        )
        same = inputs == outputs
        self.shortcut = nn.Identity() if same else nn.Conv2d(inputs, outputs, kernel_size=1)

    def forward(self, x: Tensor, known: Tensor) -> Tensor:
        hidden = self.before(x) + self.known(known)[:, :, None, None]
        return self.shortcut(x) + self.after(hidden)


def embed_times(times: Tensor, features: int) -> Tensor:
    """Cosines and sines of times, shape (batch, features): https://arxiv.org/abs/1706.03762"""
    places = torch.arange(features // 2, device=times.device) / (features // 2)
    rates = torch.exp(-log(10_000) * places)
    angles = times[:, None] * rates
    return torch.cat([angles.cos(), angles.sin()], dim=1)


def find_widths(width: int, levels: int) -> list[int]:
    """The channels of each level: twice those of the level above, up to four times the width."""
    return [width * min(2**level, 4) for level in range(levels)]

#: slot build_model when model=unet
if config.width % 8:
    raise SystemExit(f"--width {config.width} is not a multiple of 8, the number of groups.")
size = min(image_shape(config)[1:])
if size < 2 ** (config.levels - 1):
    raise SystemExit(f"Images of {size} pixels can't be halved that often: lower --levels.")
#: region build
return UNet(image_shape(config)[0], config.width, config.levels)
#: end build

#: slot model when model=diffusers
class UNet(nn.Module):
    """The U-Net of diffusers: predictions for noisy images, in the same shape."""

    def __init__(self, **settings) -> None:
        super().__init__()
        self.model = UNet2DModel(**settings)

    #: region forward
    def forward(self, noisy: Tensor, times: Tensor) -> Tensor:
        return self.model(noisy, times).sample
    #: end forward

#: slot build_model when model=diffusers
if config.width % 8:
    raise SystemExit(f"--width {config.width} is not a multiple of 8, the number of groups.")
channels, size, _ = image_shape(config)
if size % 2 ** (config.levels - 1):
    raise SystemExit(f"Images of {size} pixels can't be halved that often: lower --levels.")
return UNet(
    sample_size=size,
    in_channels=channels,
    out_channels=channels,
    block_out_channels=[config.width * min(2**level, 4) for level in range(config.levels)],
    down_block_types=["DownBlock2D"] * (config.levels - 1) + ["AttnDownBlock2D"],
    up_block_types=["AttnUpBlock2D"] + ["UpBlock2D"] * (config.levels - 1),
    norm_num_groups=8,
    #: slot settings
)

#: slot model when model=pretrained
class Pretrained(nn.Module):
    """A U-Net of diffusers: predictions for noisy images, in the same shape."""

    def __init__(self, name: str) -> None:
        super().__init__()
        check_hub(name)
        try:
            self.model = UNet2DModel.from_pretrained(name)
        except (OSError, ValueError) as error:
            raise SystemExit(f"The model {name!r} can't be loaded: {error}") from error

    def forward(self, noisy: Tensor, times: Tensor) -> Tensor:
        return self.model(noisy, times).sample

#: slot build_model when model=pretrained
name, (channels, size, _) = config.pretrained_name, image_shape(config)
model = Pretrained(name)
expected, levels = model.model.config.in_channels, len(model.model.config.block_out_channels)
if expected != channels:
    raise SystemExit(f"{name} takes images with {expected} channels, and yours have {channels}.")
if size % 2 ** (levels - 1):
    raise SystemExit(f"{name} halves images {levels - 1} times, which {size} pixels don't allow.")
return model

#: replace signature when condition=classes model=unet
def __init__(self, channels: int, width: int, levels: int, classes: int) -> None:
    super().__init__()

#: slot embedding when condition=classes model=unet
self.labels = nn.Embedding(1 + classes, features)

#: replace forward when condition=classes model=unet
def forward(self, noisy: Tensor, times: Tensor, labels: Tensor) -> Tensor:
    known = self.times(embed_times(times, self.width))
    known = known + self.labels(labels + 1)  # -1 stands for any class

#: replace build when condition=classes model=unet
#: region classes
return UNet(image_shape(config)[0], config.width, config.levels, 10)
#: end classes

#: replace forward when condition=classes model=diffusers
def forward(self, noisy: Tensor, times: Tensor, labels: Tensor) -> Tensor:
    return self.model(noisy, times, class_labels=labels + 1).sample  # -1 stands for any class

#: slot settings when condition=classes model=diffusers
#: region classes
num_class_embeds=1 + 10,  # the first stands for any class
#: end classes

#: replace classes when condition=classes dataset=image_folder model=unet
return UNet(image_shape(config)[0], config.width, config.levels, config.classes)

#: replace classes when condition=classes dataset=image_folder model=diffusers
num_class_embeds=1 + config.classes,  # the first stands for any class
