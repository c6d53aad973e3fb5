#: file
"""The model: images in, {{ task.outputs }} out."""

from torch import nn

#: slot standardize


#: slot model


#: region build
def build_model(
    config
    #: slot parameters
) -> nn.Module:
    """The model, before it is prepared."""
    #: slot names
    ...  #: slot build_model
#: end build
#: end file

import timm
import torch
from torch import Tensor
from torchvision import models

from data import class_names, read_targets
from lib.access import check_hub
from lib.standardize import Standardize

#: slot model when labels=number
class Regressor(nn.Module):
    """Predictions of shape (batch,) in the unit of the targets, by a network with one output."""

    def __init__(self, network: nn.Module, targets: Tensor) -> None:
        super().__init__()
        self.network = network
        self.scale = Standardize(targets)

    def forward(self, images: Tensor) -> Tensor:
        # mixed precision has too few digits for large targets
        outputs = self.network(images).squeeze(1).float()
        return outputs * self.scale.std + self.scale.mean

#: replace build when labels=number
def build_network(config) -> nn.Module:
    """A network whose output is a standardized number, shape (batch, 1)."""
    ...  #: slot build_model


def build_model(
    config
    #: slot parameters
) -> nn.Module:
    """The model, before it is prepared."""
    #: region targets
    targets = read_targets(config)
    #: end targets
    return Regressor(build_network(config), targets)

#: slot model when model=cnn
class ConvNet(nn.Module):
    #: region shape
    """Logits of shape (batch, classes) for grayscale images of shape (batch, 1, 8, 8)."""
    #: end shape

    def __init__(self, classes: int, channels: int = 32, dropout: float = 0.3) -> None:
        super().__init__()
        self.features = nn.Sequential(
            #: region first
            nn.Conv2d(1, channels, kernel_size=3, padding=1),
            #: end first
            nn.GroupNorm(8, channels),
            nn.ReLU(),
            nn.Conv2d(channels, 2 * channels, kernel_size=3, padding=1),
            nn.GroupNorm(8, 2 * channels),
            nn.ReLU(),
            #: region pooling
            nn.AdaptiveAvgPool2d(4),  # 4 x 4 for images of any size
            #: end pooling
        )
        flat = 2 * channels * 4 * 4
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(dropout), nn.Linear(flat, classes))

    def forward(self, images: Tensor) -> Tensor:
        #: slot scale
        return self.head(self.features(images))

#: slot build_model when model=cnn
return ConvNet(
    classes=
    ...  #: slot classes
)

#: replace shape when dataset=mnist model=cnn
"""Logits of shape (batch, classes) for grayscale images of shape (batch, 1, height, width)."""

#: replace shape when dataset=scenes model=cnn
"""Logits of shape (batch, classes) for grayscale images of shape (batch, 1, 16, 16)."""

#: replace pooling when dataset=digits model=cnn
nn.MaxPool2d(2),

#: replace pooling when dataset=scenes model=cnn
nn.MaxPool2d(4),

#: slot build_model when model=mlp
#: region layers
return nn.Sequential(
    nn.Flatten(),
    nn.Linear(8 * 8, 128),
    #: end layers
    nn.ReLU(),
    nn.Linear(128, 64),
    nn.ReLU(),
    nn.Linear(
        64,
        ...  #: slot classes
    ),
)

#: replace layers when dataset=mnist model=mlp
return nn.Sequential(
    nn.Flatten(),
    nn.Linear(28 * 28, 128),

#: replace layers when dataset=scenes model=mlp
return nn.Sequential(
    nn.Flatten(),
    nn.Linear(16 * 16, 128),

#: slot model when model=timm
class Classifier(nn.Module):
    """A timm backbone and a head: images from 0 to {{ task.white }} in, logits (batch, classes) out.

    Images are normalized as for the pretrained weights. This gives grayscale images three channels.
    """

    def __init__(self, backbone: nn.Module, classes: int) -> None:
        super().__init__()
        self.backbone = backbone
        self.head = nn.Linear(backbone.head_hidden_size, classes)
        self.register_buffer("mean", torch.tensor(backbone.pretrained_cfg["mean"]).reshape(3, 1, 1))
        self.register_buffer("std", torch.tensor(backbone.pretrained_cfg["std"]).reshape(3, 1, 1))

    def forward(self, images: Tensor) -> Tensor:
        #: region normalise
        return self.head(self.backbone((images - self.mean) / self.std))
        #: end normalise

#: slot build_model when model=timm
if not timm.is_model(config.backbone):
    raise SystemExit(f"timm has no {config.backbone}: timm.list_models() lists all names.")
hub_name = timm.get_pretrained_cfg(config.backbone).hf_hub_id
if config.pretrained and hub_name:
    check_hub(hub_name)
# num_classes=0 returns the features before the head
#: region backbone
backbone = timm.create_model(config.backbone, pretrained=config.pretrained, num_classes=0)
#: end backbone
return Classifier(
    backbone,
    classes=
    ...  #: slot classes
)

#: slot model when model=torchvision
class Classifier(nn.Module):
    """A torchvision backbone and a head: images from 0 to {{ task.white }} in, logits (batch, classes) out.

    Images are normalized as for the pretrained weights. This gives grayscale images three channels.
    """

    def __init__(self, name: str, pretrained: bool, classes: int) -> None:
        super().__init__()
        weights = models.get_model_weights(name).DEFAULT
        try:
            self.backbone = models.get_model(name, weights=weights if pretrained else None)
        except OSError as error:  # no network
            raise SystemExit(f"The weights of {name} can't be downloaded: {error}") from error
        # replace the last linear layer, the head for the ImageNet classes
        layers = self.backbone.named_modules()
        last, layer = [item for item in layers if isinstance(item[1], nn.Linear)][-1]
        self.backbone.set_submodule(last, nn.Identity())
        self.head = nn.Linear(layer.in_features, classes)
        self.register_buffer("mean", torch.tensor(weights.transforms().mean).reshape(3, 1, 1))
        self.register_buffer("std", torch.tensor(weights.transforms().std).reshape(3, 1, 1))

    def forward(self, images: Tensor) -> Tensor:
        #: region normalise
        return self.head(self.backbone((images - self.mean) / self.std))
        #: end normalise

#: slot build_model when model=torchvision
# their head is not a linear layer, or there are several heads
odd = ["squeezenet*", "googlenet", "inception*"]
if config.backbone not in models.list_models(module=models, exclude=odd):
    raise SystemExit(
        f"{config.backbone} is not a torchvision classifier with a head that can be replaced: "
        "torchvision.models.list_models() lists all names."
    )
return Classifier(
    config.backbone,
    config.pretrained,
    classes=
    ...  #: slot classes
)

#: slot scale when dataset=image_folder|huggingface|csv model=cnn
images = images.to(self.head[-1].weight.dtype) / 255  # bytes to numbers from 0 to 1

#: slot model when dataset=image_folder|huggingface|csv model=mlp
class MLP(nn.Sequential):
    """Linear layers, and others between them: images from 0 to 255 in, logits out."""

    def forward(self, images: Tensor) -> Tensor:
        return super().forward(images.to(self[-1].weight.dtype) / 255)

#: replace normalise when dataset=image_folder|huggingface|csv model=timm|torchvision
# mean and std are for 0 to 1; a grayscale image becomes the three channels that they have
images = (images.to(self.mean.dtype) - 255 * self.mean).div_(255 * self.std)
return self.head(self.backbone(images))

#: replace shape when dataset=image_folder|huggingface|csv model=cnn
"""Logits of shape (batch, classes) for RGB images of shape (batch, 3, height, width)."""

#: replace first when dataset=image_folder|huggingface|csv model=cnn
nn.Conv2d(3, channels, kernel_size=3, padding=1),

#: replace layers when dataset=image_folder|huggingface|csv model=mlp
return MLP(
    nn.Flatten(),
    nn.Linear(3 * config.image_size**2, 128),

#: slot classes when dataset=digits|mnist
10

#: slot classes when dataset=image_folder|huggingface
#: region count
len(class_names(config))
#: end count

#: slot classes when labels=one|many
#: region count
len(class_names(config))
#: end count

#: slot parameters with predict with saved_classes
, names: list[str] | None = None

#: slot names with predict with saved_classes
names = names or class_names(config)  # those of a run, so that no data is needed

#: replace count with predict with saved_classes
len(names)

#: slot parameters when labels=number with predict
, targets: Tensor | None = None

#: replace targets when labels=number with predict
if targets is None:  # else the weights have their scale
    targets = read_targets(config)

#: slot classes when labels=number
1
