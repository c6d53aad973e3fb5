#: file
"""The model: images in, one logit for each class and pixel out."""

import torch
from torch import Tensor, nn

#: slot model


def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    ...  #: slot build_model
#: end file

import torch.nn.functional as F
from torchvision import models
from transformers import AutoConfig, AutoImageProcessor, AutoModelForSemanticSegmentation

from data import CLASSES
from lib.access import check_hub

#: slot model when model=unet
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

#: slot build_model when model=unet
if config.width % 8:
    raise SystemExit(f"--width {config.width} is not a multiple of 8, the number of groups.")
#: region classes
return UNet(config.classes, config.width)
#: end classes

#: slot model when model=torchvision
class Segmenter(nn.Module):
    """A torchvision model: images from 0 to 1 in, logits (batch, classes, height, width) out.

    Images are normalized as for weights trained on ImageNet.
    """

    def __init__(self, name: str, pretrained: bool, classes: int) -> None:
        super().__init__()
        backbone = "DEFAULT" if pretrained else None
        try:
            self.model = models.get_model(
                name, weights=None, weights_backbone=backbone, num_classes=classes
            )
        except OSError as error:  # no network
            raise SystemExit(f"The weights of {name} can't be downloaded: {error}") from error
        self.register_buffer("mean", torch.tensor([0.485, 0.456, 0.406]).reshape(3, 1, 1))
        self.register_buffer("std", torch.tensor([0.229, 0.224, 0.225]).reshape(3, 1, 1))

    def forward(self, images: Tensor) -> Tensor:
        return self.model((images - self.mean) / self.std)["out"]

#: slot build_model when model=torchvision
if config.backbone not in models.list_models(module=models.segmentation):
    raise SystemExit(
        f"torchvision has no segmentation model {config.backbone}: "
        f"use one of {', '.join(models.list_models(module=models.segmentation))}."
    )
#: region classes
return Segmenter(config.backbone, config.pretrained, config.classes)
#: end classes

#: slot model when model=transformers
class Pretrained(nn.Module):
    """A model of transformers: images from 0 to 1 in, logits (batch, classes, height, width) out.

    It has a new layer for the classes. Images are normalized as for the pretrained weights.
    """

    def __init__(self, name: str, classes: int) -> None:
        super().__init__()
        check_hub(name)
        try:
            # only the loss in transformers would train an auxiliary head
            settings = AutoConfig.from_pretrained(
                name, num_labels=classes, use_auxiliary_head=False
            )
            self.model = AutoModelForSemanticSegmentation.from_pretrained(
                name,
                config=settings,
                ignore_mismatched_sizes=True,  # if it was fine-tuned for other classes
                dtype=torch.float32,  # mixed precision needs weights in 32 bits
            )
            pixels = AutoImageProcessor.from_pretrained(name)
        except (OSError, ValueError) as error:
            raise SystemExit(f"The model {name!r} can't be loaded: {error}") from error
        mean, std = pixels.image_mean, pixels.image_std
        if not pixels.do_normalize:  # MobileViT takes values from 0 to 1
            mean, std = [0.0] * 3, [1.0] * 3
        self.register_buffer("mean", torch.tensor(mean).reshape(3, 1, 1))
        self.register_buffer("std", torch.tensor(std).reshape(3, 1, 1))
        self.bgr = getattr(pixels, "do_flip_channel_order", False)  # MobileViT

    def forward(self, images: Tensor) -> Tensor:
        pixels = (images - self.mean) / self.std
        logits = self.model(pixels.flip(1) if self.bgr else pixels).logits
        # many models give one logit for 4 x 4 pixels
        return F.interpolate(logits, images.shape[-2:], mode="bilinear")


def freeze_unused(model: nn.Module, size: int) -> None:
    """Freeze weights without a gradient, such as those of a norm whose output nothing uses.

    With several processes, DistributedDataParallel would wait for their gradients.
    """
    model.eval()  # without random numbers, and BatchNorm keeps its statistics
    weights = list(model.parameters())
    with torch.enable_grad():
        logits = model(torch.zeros(1, 3, size, size))
        gradients = torch.autograd.grad(logits.sum(), weights, allow_unused=True)
    for weight, gradient in zip(weights, gradients, strict=True):
        weight.requires_grad_(gradient is not None)
    model.train()

#: slot build_model when model=transformers
#: region classes
model = Pretrained(config.pretrained_name, config.classes)
#: end classes
try:
    freeze_unused(model, config.image_size)
except (RuntimeError, ValueError) as error:
    size = f"{config.image_size} x {config.image_size}"
    raise SystemExit(
        f"The model {config.pretrained_name!r} can't take images of {size} pixels: "
        f"choose another --image-size. {error}"
    ) from error
return model

#: replace classes when model=unet dataset=shapes
return UNet(len(CLASSES), config.width)

#: replace classes when model=torchvision dataset=shapes
return Segmenter(config.backbone, config.pretrained, len(CLASSES))

#: replace classes when model=transformers dataset=shapes
model = Pretrained(config.pretrained_name, len(CLASSES))
