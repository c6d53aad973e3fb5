"""Boxes: left, top, right and bottom in pixels, in the last dimension of a tensor."""

import torch
from torch import Tensor

#: slot constants
DETECTIONS = 100  # maximum per image, as in COCO


def area(boxes: Tensor) -> Tensor:
    return (boxes[..., 2:] - boxes[..., :2]).clamp(min=0).prod(dim=-1)


def intersect(boxes: Tensor, others: Tensor) -> Tensor:
    """The boxes that two boxes share. Shapes are broadcast."""
    corner = torch.maximum(boxes[..., :2], others[..., :2])
    return torch.cat([corner, torch.minimum(boxes[..., 2:], others[..., 2:])], dim=-1)


def iou(boxes: Tensor, others: Tensor) -> Tensor:
    """Intersection over union, from 0 to 1. Shapes are broadcast."""
    shared = area(intersect(boxes, others))
    return shared / (area(boxes) + area(others) - shared).clamp(min=1e-9)


#: slot functions
