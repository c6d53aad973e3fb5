import torch.nn.functional as F
from data import build_tokenizer
from limits import check_limits
from transformers import CLIPImageProcessor, CLIPModel

#: slot towers_built
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

#: slot embed_images
images = images.expand(-1, 3, -1, -1)
if images.shape[-1] != self.size:
    images = F.interpolate(images, (self.size, self.size), mode="bicubic")
found = self.model.vision_model(pixel_values=(images - self.mean) / self.std)
return F.normalize(self.model.visual_projection(found.pooler_output), dim=1)

#: slot embed_texts
found = self.model.text_model(input_ids=tokens, attention_mask=mask.long())
return F.normalize(self.model.text_projection(found.pooler_output), dim=1)

#: slot build_model
def build_model(config) -> nn.Module:
    """The pretrained model, before it is prepared."""
    model = TwoTowers(config)
    check_limits(model.model, len(build_tokenizer(config)), config.max_length, "--max-length")
    return model
