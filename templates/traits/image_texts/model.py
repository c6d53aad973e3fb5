from math import log

import torch.nn.functional as F
from transformers import CLIPImageProcessor, CLIPModel

from data import build_tokenizer
from lib.limits import check_limits

#: slot towers
class TwoTowers(nn.Module):
    """Vectors of images and of texts in one space, shape (batch, 2, width).

    The product of two of them is their cosine divided by the temperature, which is learned, as in
    CLIP: Radford and others 2021, https://arxiv.org/abs/2103.00020
    """

    def __init__(self, config) -> None:
        super().__init__()
        ...  #: slot towers_built
        #: slot layer_classes

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

#: slot towers_built when model=pretrained
name = config.pretrained_name
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

#: slot embed_images when model=pretrained
images = images.expand(-1, 3, -1, -1)
if images.shape[-1] != self.size:
    images = F.interpolate(images, (self.size, self.size), mode="bicubic")
found = self.model.vision_model(pixel_values=(images - self.mean) / self.std)
return F.normalize(self.model.visual_projection(found.pooler_output), dim=1)

#: slot embed_texts when model=pretrained
found = self.model.text_model(input_ids=tokens, attention_mask=mask.long())
return F.normalize(self.model.text_projection(found.pooler_output), dim=1)

#: slot build_model when model=pretrained
def build_model(config) -> nn.Module:
    """The pretrained model, before it is prepared."""
    model = TwoTowers(config)
    check_limits(model.model, len(build_tokenizer(config)), config.max_length, "--max-length")
    return model

#: replace sizes when model=encoder
width = config.width

#: replace classes when model=encoder

#: slot encoder when model=encoder
class ImageEncoder(nn.Module):
    """Vectors (batch, width) at length 1 for {{ task.kind }} images, shape (batch, {{ task.channels }}, size, size)."""

    def __init__(self, config, channels: int = 32) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d({{ task.channels }}, channels, kernel_size=3, padding=1),
            nn.GroupNorm(8, channels),
            nn.ReLU(),
            nn.Conv2d(channels, 2 * channels, kernel_size=3, padding=1),
            nn.GroupNorm(8, 2 * channels),
            nn.ReLU(),
            {{ task.pooling }}
            nn.Flatten(),
            nn.Dropout(config.dropout),
            nn.Linear(32 * channels, config.width),
        )

    def forward(self, images: Tensor) -> Tensor:
        return F.normalize(self.layers(images), dim=1)

#: slot towers_built when model=encoder
self.images, self.texts = ImageEncoder(config), Encoder(config)
self.log_scale = nn.Parameter(torch.tensor([-log(config.start_temperature)]))

#: slot embed_images when model=encoder
return self.images(images)

#: slot embed_texts when model=encoder
return self.texts(tokens, mask)

#: replace built when model=encoder
return TwoTowers(config)
