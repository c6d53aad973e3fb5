#: file when model=transformers
"""The model: images in, boxes and scores out."""

import torch
from torch import Tensor, nn
from transformers import AutoConfig, AutoImageProcessor, AutoModelForObjectDetection
from transformers.image_transforms import center_to_corners_format

from data import Objects, class_names
from lib.access import check_hub
from loss import KINDS, to_labels


class Pretrained(nn.Module):
    """A pretrained detector for images from 0 to 1, with new layers for the classes.

    The output has the shape (batch, queries, 4 + classes): a box in pixels, then the score of each
    class, from 0 to 1. With targets, it also returns the loss of each image, which the detector
    computes itself: to train, some detectors add noisy copies of the objects to their queries.
    """

    def __init__(self, name: str, classes: int) -> None:
        super().__init__()
        check_hub(name)
        try:
            processor = AutoImageProcessor.from_pretrained(name)
            settings = AutoConfig.from_pretrained(name, num_labels=classes)
            if settings.model_type not in KINDS:
                raise ValueError(f"it is a {settings.model_type}, not one of {', '.join(KINDS)}")
            self.model = AutoModelForObjectDetection.from_pretrained(
                name,
                config=settings,
                ignore_mismatched_sizes=True,  # it has layers for other classes
                dtype=torch.float32,  # mixed precision needs weights in 32 bits
            )
        except (ImportError, OSError, ValueError) as error:
            reason = " ".join(str(error).split())
            raise SystemExit(f"The model {name!r} can't be loaded: {reason}") from error
        self.classes = classes
        mean, std = [0.0] * 3, [1.0] * 3
        if processor.do_normalize:  # not for RT-DETR
            mean, std = processor.image_mean, processor.image_std
        self.register_buffer("mean", torch.tensor(mean).reshape(3, 1, 1))
        self.register_buffer("std", torch.tensor(std).reshape(3, 1, 1))

    def forward(
        self, images: Tensor, targets: list[Objects] | None = None
    ) -> Tensor | tuple[Tensor, Tensor]:
        size = images.shape[-1]
        labels = None if targets is None else [to_labels(objects, size) for objects in targets]
        outputs = self.model((images - self.mean) / self.std, labels=labels)
        logits = outputs.logits.float()
        if logits.shape[2] > self.classes:  # the last one says that there is no object
            scores = logits.softmax(dim=2)[..., :-1]
        else:
            scores = logits.sigmoid()
        boxes = size * center_to_corners_format(outputs.pred_boxes.float())
        found = torch.cat([boxes, scores], dim=2)
        if targets is None:
            return found
        losses = outputs.loss
        for name, weight in self.model.named_parameters():
            if "denoising" in name:  # not used without objects, but DDP waits for its gradient
                losses = losses + 0 * weight.sum()
        return found, losses


def build_model(
    config
    #: slot parameters
) -> nn.Module:
    """The pretrained model, before it is prepared."""
    #: region names
    names = class_names(config)
    #: end names
    model, size = Pretrained(config.pretrained_name, len(names)), config.image_size
    try:
        with torch.no_grad():
            model.eval()(torch.zeros(1, 3, size, size))
    except (RuntimeError, ValueError) as error:
        raise SystemExit(
            f"{config.pretrained_name} can't take images of {size} x {size} pixels. Set "
            f"--image-size to a larger multiple of 32, such as 640: {error}"
        ) from error
    return model
