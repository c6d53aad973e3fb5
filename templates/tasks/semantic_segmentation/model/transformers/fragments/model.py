import torch.nn.functional as F
from transformers import AutoConfig, AutoImageProcessor, AutoModelForSemanticSegmentation

#: slot model
class Pretrained(nn.Module):
    """A model of transformers: images from 0 to 1 in, logits (batch, classes, height, width) out.

    It has a new layer for the classes. Images are normalized as for the pretrained weights.
    """

    def __init__(self, name: str, classes: int) -> None:
        super().__init__()
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

#: slot build_model
model = Pretrained(config.pretrained_name, {{ task.classes }})
try:
    freeze_unused(model, config.image_size)
except (RuntimeError, ValueError) as error:
    size = f"{config.image_size} x {config.image_size}"
    raise SystemExit(
        f"The model {config.pretrained_name!r} can't take images of {size} pixels: "
        f"choose another --image-size. {error}"
    ) from error
return model
