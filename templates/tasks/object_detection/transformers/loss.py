#: file when model=transformers
"""The training loss: that of the pretrained model, for each image alone.

Transformers returns one loss for the batch of a process, which it divides by the number of objects:
in this batch (RT-DETR, D-FINE), or in those of all processes (the others, for which Transformers
5.24 divides by the number of processes twice). Such a loss depends on which images meet in a batch.
Here, each image is a batch of its own for the loss, and training takes the mean. So each image
counts the same, in training and in evaluation, in batches of any size and on any number of
processes.
"""

from collections.abc import Callable

import torch
from accelerate import PartialState
from torch import Tensor
from transformers.image_transforms import corners_to_center_format
from transformers.loss import loss_for_object_detection
from transformers.loss.loss_for_object_detection import ImageLoss
from transformers.loss.loss_rt_detr import RTDetrLoss

from data import Objects

# the models whose losses are computed by ImageLoss or RTDetrLoss
KINDS = ("conditional_detr", "d_fine", "dab-detr", "deformable_detr", "detr", "rt_detr")
KINDS += ("rt_detr_v2", "table-transformer", "yolos")


def to_labels(objects: Objects, size: int) -> dict[str, Tensor]:
    """The objects of an image as Transformers takes them: centers and sizes from 0 to 1."""
    known = ~objects["crowd"]
    boxes = corners_to_center_format(objects["boxes"][known] / size)
    return {"class_labels": objects["labels"][known], "boxes": boxes}


def for_each_image(forward: Callable) -> Callable:
    """The forward of a criterion, with losses of the shape (batch,)."""

    def forward_each(criterion, outputs: dict, targets: list[dict]) -> dict[str, Tensor]:
        boxes = outputs["pred_boxes"]
        if not boxes.isfinite().all():  # it diverged: Transformers would end with an error
            return {"loss_bbox": boxes.float().flatten(1).sum(dim=1)}  # is not finite either
        rows = [
            forward(criterion, pick(outputs, row), [target]) for row, target in enumerate(targets)
        ]
        return {name: torch.stack([losses[name] for losses in rows]) for name in rows[0]}

    return forward_each


def pick(outputs, row: int):
    """The part of an image in what a criterion gets: tensors in dictionaries and lists of them."""
    if isinstance(outputs, Tensor):
        return outputs[row : row + 1].float()
    if isinstance(outputs, dict):
        return {name: pick(part, row) for name, part in outputs.items()}
    if isinstance(outputs, list):
        return [pick(part, row) for part in outputs]
    if isinstance(outputs, tuple):  # the indices of each image's noisy copies
        return outputs[row : row + 1]
    return outputs


def keep(count: Tensor) -> Tensor:
    """The objects of this process, for a criterion that divides them by the number of processes."""
    return count * PartialState().num_processes


loss_for_object_detection.reduce = keep
for kind in (ImageLoss, RTDetrLoss):
    #: region each_image
    kind.forward = for_each_image(kind.forward)
    #: end each_image
#: end file

#: replace each_image with compile
# not compiled: its code differs with the number of objects
kind.forward = torch.compiler.disable(for_each_image(kind.forward))
