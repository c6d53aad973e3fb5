#: file
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
#: end file

import torch.nn.functional as F

from masks import FEATURES, split

#: replace rows when find=masks
def find_objects(outputs: Tensor) -> Tensor:
    """The detections of each image, from the highest score to the lowest.

    The shape is (batch, 100, 6 + places). A row has the box, the score, the class, and the logit of
    its mask at each place. Where nothing is left, the score is 0.
    """
    boxes, logits, weights, features = split(outputs)
    scores = logits.sigmoid()

#: replace found when find=masks
weights = weights.gather(1, (places // classes).unsqueeze(2).expand(-1, -1, FEATURES))
found = torch.cat([boxes, labels.unsqueeze(2), weights], dim=2)
found = found.gather(1, order.unsqueeze(2).expand(-1, -1, 5 + FEATURES))

#: slot mask_logits when find=masks
found = torch.cat([found[..., :6], found[..., 6:] @ features.transpose(1, 2)], dim=2)

#: slot functions when model=transformers
def find_objects(outputs: Tensor) -> Tensor:
    """The detections of each image, shape (batch, 100, 6), from the highest score to the lowest.

    A row has the box, the score and the class. The score of an unused row is 0. A query can be
    found with several classes. These models learn to find an object once, so that no boxes are
    removed.
    """
    boxes, scores = outputs[..., :4], outputs[..., 4:]
    classes = scores.shape[2]
    scores, places = scores.flatten(1).topk(min(DETECTIONS, scores[0].numel()))
    boxes = boxes.gather(1, (places // classes).unsqueeze(2).expand(-1, -1, 4))
    found = torch.cat([boxes, scores.unsqueeze(2), (places % classes).unsqueeze(2)], dim=2)
    return F.pad(found, (0, 0, 0, DETECTIONS - found.shape[1]))
