#: file
"""The model: {{ task.takes }}"""

import torch
from torch import Tensor, nn


#: slot functions


#: slot encoder


#: slot towers


...  #: slot build_model
#: end file

from math import log

import torch.nn.functional as F
from transformers import AutoModel, CLIPImageProcessor, CLIPModel

from data import PIECES, build_tokenizer
from lib.access import check_hub
from lib.limits import check_limits
from lib.models import pool

#: slot encoder when model=encoder
class Encoder(nn.Module):
    """Vectors of shape (batch, width) for tokens and a mask of shape (batch, length).

    A pre-norm transformer encoder (Vaswani et al. 2017, https://arxiv.org/abs/1706.03762), with
    mean pooling over its outputs.
    """

    def __init__(self, config, heads: int = 4) -> None:
        super().__init__()
        #: region sizes without image_texts
        self.temperature, width = config.temperature, config.width
        #: end sizes
        #: region width with image_texts
        width = config.width
        #: end width
        self.embedding = nn.Embedding(PIECES, width)
        self.positions = nn.Embedding(config.max_length, width)
        layer = nn.TransformerEncoderLayer(
            width, heads, 4 * width, config.dropout, batch_first=True, norm_first=True
        )
        # the default warns that norm_first disables nested tensors
        settings = {"norm": nn.LayerNorm(width), "enable_nested_tensor": False}
        self.encoder = nn.TransformerEncoder(layer, config.layers, **settings)
        #: region layer_classes when fsdp.transformer_layer_cls_to_wrap=empty with fsdp without image_texts
        self._no_split_modules = ["TransformerEncoderLayer"]  # FSDP gathers one at a time
        #: end layer_classes

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.embedding(tokens) + self.positions(places)
        return pool(self.encoder(x, src_key_padding_mask=~mask), mask)

#: slot build_model when model=encoder
def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    if config.width % 4:
        raise SystemExit(f"--width {config.width} is not a multiple of 4, the number of heads.")
    #: region built without image_texts
    return Encoder(config)
    #: end built
    #: region towers with image_texts
    return TwoTowers(config)
    #: end towers

#: slot build_model when model=pretrained without image_texts
class Pretrained(nn.Module):
    """Vectors of shape (batch, width) for tokens and a mask of shape (batch, length).

    They are the mean of the last hidden states of a pretrained model, as in sentence-transformers:
    Reimers and Gurevych 2019, https://arxiv.org/abs/1908.10084
    """

    def __init__(self, config) -> None:
        super().__init__()
        self.temperature, name = config.temperature, config.pretrained_name
        try:
            # mixed precision needs weights in 32 bits
            self.model = AutoModel.from_pretrained(name, dtype=torch.float32)
        except (OSError, ValueError) as error:
            raise SystemExit(f"The model {name!r} can't be loaded: {error}") from error
        if self.model.config.is_encoder_decoder:
            raise SystemExit(f"{name!r} has an encoder and a decoder: choose an encoder.")
        if getattr(self.model, "pooler", None) is not None:
            self.model.pooler = None  # it is not used, and would have no gradients
        #: region layer_classes when fsdp.transformer_layer_cls_to_wrap=empty with fsdp
        self._no_split_modules = [
            n for n in self.model._no_split_modules or () if "Embeddings" not in n
        ]  # FSDP gathers one at a time
        #: end layer_classes

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        states = self.model(input_ids=tokens, attention_mask=mask.long()).last_hidden_state
        return pool(states, mask)


def build_model(config) -> nn.Module:
    """The pretrained model, before it is prepared."""
    model = Pretrained(config)
    check_limits(model.model, len(build_tokenizer(config)), config.max_length, "--max-length")
    return model

#: slot towers with image_texts
class TwoTowers(nn.Module):
    """Vectors of images and of texts in one space, shape (batch, 2, width).

    The product of two of them is their cosine divided by the temperature, which is learned, as in
    CLIP: Radford and others 2021, https://arxiv.org/abs/2103.00020
    """

    def __init__(self, config) -> None:
        super().__init__()
        ...  #: slot towers_built
        #: region layers when model=encoder fsdp.transformer_layer_cls_to_wrap=empty with fsdp
        self._no_split_modules = ["TransformerEncoderLayer"]  # FSDP gathers one at a time
        #: end layers
        #: region pretrained_layers when model=pretrained fsdp.transformer_layer_cls_to_wrap=empty with fsdp
        self._no_split_modules = [
            n for n in self.model._no_split_modules or () if "Embeddings" not in n
        ]  # FSDP gathers one at a time
        #: end pretrained_layers

    def embed_images(self, images: Tensor) -> Tensor:
        """Unit vectors, shape (batch, width)."""
        ...  #: slot embed_images

    def embed_texts(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """Unit vectors, shape (batch, width)."""
        ...  #: slot embed_texts

    def forward(self, images: Tensor, tokens: Tensor, mask: Tensor) -> Tensor:
        vectors = [self.embed_images(images), self.embed_texts(tokens, mask)]
        return torch.stack(vectors, dim=1) * (self.log_scale / 2).exp()

    @torch.no_grad()
    def clamp_temperature(self) -> None:
        """Keep it between 0.01 and 1 after each step: lower values make training unstable."""
        self.log_scale.clamp_(min=0, max=log(100))

#: slot towers_built when model=pretrained with image_texts
name = config.pretrained_name
check_hub(name)
try:
    # mixed precision needs weights in 32 bits
    self.model = CLIPModel.from_pretrained(name, dtype=torch.float32)
    pixels, _ = CLIPImageProcessor.get_image_processor_dict(name)
except (OSError, ValueError) as error:
    raise SystemExit(f"The model {name!r} can't be loaded: {error}") from error
# FSDP can't shard a scalar, so it has one dimension
self.log_scale = nn.Parameter(self.model.logit_scale.detach().reshape(1))
del self.model.logit_scale
self.size = self.model.config.vision_config.image_size
for part in ("mean", "std"):
    values = torch.tensor(pixels[f"image_{part}"]).reshape(3, 1, 1)
    self.register_buffer(part, values, persistent=False)

#: slot embed_images when model=pretrained with image_texts
images = images.expand(-1, 3, -1, -1)
if images.shape[-1] != self.size:
    images = F.interpolate(images, (self.size, self.size), mode="bicubic")
found = self.model.vision_model(pixel_values=(images - self.mean) / self.std)
return F.normalize(self.model.visual_projection(found.pooler_output), dim=1)

#: slot embed_texts when model=pretrained with image_texts
found = self.model.text_model(input_ids=tokens, attention_mask=mask.long())
return F.normalize(self.model.text_projection(found.pooler_output), dim=1)

#: slot build_model when model=pretrained with image_texts
def build_model(config) -> nn.Module:
    """The pretrained model, before it is prepared."""
    model = TwoTowers(config)
    check_limits(model.model, len(build_tokenizer(config)), config.max_length, "--max-length")
    return model

#: slot encoder when model=encoder with image_texts
class ImageEncoder(nn.Module):
    """Vectors (batch, width) at length 1 for {{ task.kind }} images, shape (batch, {{ task.channels }}, size, size)."""

    def __init__(self, config, channels: int = 32) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            #: region gray when dataset=digits
            nn.Conv2d(1, channels, kernel_size=3, padding=1),
            #: end gray
            #: region color when dataset=images|hub_images
            nn.Conv2d(3, channels, kernel_size=3, padding=1),
            #: end color
            nn.GroupNorm(8, channels),
            nn.ReLU(),
            nn.Conv2d(channels, 2 * channels, kernel_size=3, padding=1),
            nn.GroupNorm(8, 2 * channels),
            nn.ReLU(),
            #: region pooling when dataset=digits
            nn.MaxPool2d(2),
            #: end pooling
            #: region sizes_of_files when dataset=images|hub_images
            nn.AdaptiveAvgPool2d(4),  # 4 x 4 for images of any size
            #: end sizes_of_files
            nn.Flatten(),
            nn.Dropout(config.dropout),
            nn.Linear(32 * channels, config.width),
        )

    def forward(self, images: Tensor) -> Tensor:
        return F.normalize(self.layers(images), dim=1)

#: slot towers_built when model=encoder with image_texts
self.images, self.texts = ImageEncoder(config), Encoder(config)
self.log_scale = nn.Parameter(torch.tensor([-log(config.start_temperature)]))

#: slot embed_images when model=encoder with image_texts
return self.images(images)

#: slot embed_texts when model=encoder with image_texts
return self.texts(tokens, mask)
