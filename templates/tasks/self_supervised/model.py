#: file
"""The model: images in, features out. {{ task.pretext }}"""

from torch import Tensor, nn

#: slot sizes


#: slot functions


#: slot encoder


#: slot model


...  #: slot build_model
#: end file

import timm
import torch
import torch.nn.functional as F
from torchvision import models

from data import SIZE
from lib.access import check_hub

#: slot model when method=simclr
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

#: slot build_model when method=simclr
def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    ...  #: slot built

#: slot functions when method=mae
def to_patches(images: Tensor, patches: int) -> Tensor:
    """The pixels of patches, row by row: (batch, patches, channels * size * size)."""
    side = round(patches**0.5)
    rows = images.unflatten(3, (side, -1)).unflatten(2, (side, -1))
    return rows.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)


#: region to_images when project.loop=complete
def to_images(patches: Tensor, channels: int) -> Tensor:
    """The images of these patches, shape (batch, channels, size, size)."""
    side, size = round(patches.shape[1] ** 0.5), round((patches.shape[2] / channels) ** 0.5)
    rows = patches.unflatten(2, (channels, size, size)).unflatten(1, (side, side))
    return rows.permute(0, 3, 1, 4, 2, 5).flatten(4).flatten(2, 3)
#: end to_images

#: slot model when method=mae
class MaskedAutoencoder(nn.Module):
    """Features of images, shape (batch, width), or the pixels of all patches if `seen` is given.

    A transformer encodes the visible patches, and a smaller one reconstructs all patches.
    He and others 2022, https://arxiv.org/abs/2111.06377
    """

    def __init__(self, config, channels: int, size: int, heads: int = 4) -> None:
        super().__init__()
        width, half = config.width, config.width // 2
        self.patches = (size // config.patch_size) ** 2
        pixels = channels * config.patch_size**2
        self.embed = nn.Linear(pixels, width)
        self.places = nn.Parameter(torch.randn(1, self.patches, width))
        self.encoder = build_transformer(width, heads, config.layers)
        self.bridge = nn.Linear(width, half)
        self.hidden = nn.Parameter(torch.zeros(1, 1, half))  # mask token: stands for masked patches
        self.decoder_places = nn.Parameter(torch.randn(1, self.patches, half))
        self.decoder = build_transformer(half, heads, layers=1)
        self.pixels = nn.Linear(half, pixels)

    def forward(self, images: Tensor, seen: Tensor | None = None) -> Tensor:
        patches = to_patches((images - 0.5) / 0.25, self.patches)  # mean near 0, std near 1
        tokens = self.embed(patches) + self.places
        if seen is None:
            return self.encoder(tokens).mean(dim=1)
        rows = seen.unsqueeze(2)
        some = tokens.gather(1, rows.expand(-1, -1, tokens.shape[2]))
        known = self.bridge(self.encoder(some))
        hidden = self.hidden.to(known.dtype).expand(len(images), self.patches, -1)
        tokens = hidden.scatter(1, rows.expand(-1, -1, known.shape[2]), known)
        return self.pixels(self.decoder(tokens + self.decoder_places))


def build_transformer(width: int, heads: int, layers: int) -> nn.Module:
    layer = nn.TransformerEncoderLayer(
        width, heads, 4 * width, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
    )
    # the default warns that norm_first disables nested tensors
    settings = {"norm": nn.LayerNorm(width), "enable_nested_tensor": False}
    return nn.TransformerEncoder(layer, layers, **settings)

#: slot build_model when method=mae
def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    #: region size
    size = SIZE
    #: end size
    if size % config.patch_size or size == config.patch_size:
        raise SystemExit(
            f"--patch-size {config.patch_size} does not divide {size} pixels into several patches."
        )
    if config.width % 8:
        raise SystemExit(f"--width {config.width} is not a multiple of 8, for the attention heads.")
    #: region autoencoder
    return MaskedAutoencoder(config, 1, size)
    #: end autoencoder

#: slot encoder when encoder=cnn
class ConvNet(nn.Module):
    #: region shape
    """Features of grayscale images: (batch, 1, size, size) to (batch, features)."""
    #: end shape

    def __init__(self, size: int, width: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        #: region channels
        before, after = 1, width
        #: end channels
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

#: slot built when encoder=cnn
if config.width % 8:
    raise SystemExit(f"--width {config.width} is not a multiple of 8, the number of groups.")
#: region encoder
encoder = ConvNet(SIZE, config.width)
#: end encoder
return Projected(encoder, encoder.features, config)

#: slot encoder when encoder=timm
class Backbone(nn.Module):
    """Features of a timm model before its last layer, for images from 0 to 1.

    Images are normalized as for the pretrained weights. This gives grayscale images three channels.
    """

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network
        for name in ("mean", "std"):
            values = torch.tensor(network.pretrained_cfg[name]).reshape(3, 1, 1)
            self.register_buffer(name, values)

    def forward(self, images: Tensor) -> Tensor:
        return self.network((images - self.mean) / self.std)

#: slot built when encoder=timm
if not timm.is_model(config.backbone):
    raise SystemExit(f"timm has no {config.backbone}: timm.list_models() lists all names.")
hub_name = timm.get_pretrained_cfg(config.backbone).hf_hub_id
if config.pretrained and hub_name:
    check_hub(hub_name)
network = timm.create_model(config.backbone, pretrained=config.pretrained, num_classes=0)
return Projected(Backbone(network), network.head_hidden_size, config)

#: slot encoder when encoder=torchvision
class Backbone(nn.Module):
    """Features of a torchvision model before its head, for images from 0 to 1.

    Images are normalized as for the pretrained weights. This gives grayscale images three channels.
    """

    def __init__(self, name: str, pretrained: bool) -> None:
        super().__init__()
        weights = models.get_model_weights(name).DEFAULT
        try:
            self.network = models.get_model(name, weights=weights if pretrained else None)
        except OSError as error:  # no network
            raise SystemExit(f"The weights of {name} can't be downloaded: {error}") from error
        linear = {
            name: part for name, part in self.network.named_modules() if isinstance(part, nn.Linear)
        }
        head = [*linear][-1]
        self.features = linear[head].in_features
        self.network.set_submodule(head, nn.Identity())
        for part in ("mean", "std"):
            values = torch.tensor(getattr(weights.transforms(), part)).reshape(3, 1, 1)
            self.register_buffer(part, values)

    def forward(self, images: Tensor) -> Tensor:
        return self.network((images - self.mean) / self.std)

#: slot built when encoder=torchvision
# their head is not a linear layer, or there are several heads
odd = ["squeezenet*", "googlenet", "inception*"]
if config.backbone not in models.list_models(module=models, exclude=odd):
    raise SystemExit(
        f"{config.backbone} is not a torchvision classifier with a head that can be removed: "
        "torchvision.models.list_models() lists all names."
    )
encoder = Backbone(config.backbone, config.pretrained)
return Projected(encoder, encoder.features, config)

#: replace size when method=mae dataset=image_folder
size = config.image_size

#: replace autoencoder when method=mae dataset=image_folder
return MaskedAutoencoder(config, 3, size)

#: replace shape when encoder=cnn dataset=image_folder
"""Features of RGB images: (batch, 3, size, size) to (batch, features)."""

#: replace channels when encoder=cnn dataset=image_folder
before, after = 3, width

#: replace encoder when encoder=cnn dataset=image_folder
encoder = ConvNet(config.image_size, config.width)
