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

from math import isqrt

import torch.nn.functional as F

from masks import FEATURES, split

#: slot constants when model=small|timm
STRIDE = 4  # pixels between positions that predict a box
CANDIDATES = 200  # number of highest-scoring boxes to choose the detections from
OVERLAP = 0.6  # IoU above which the lower-scoring of two boxes of a class is removed

#: slot functions when model=small|timm
def find_centers(places: int, device: torch.device) -> Tensor:
    """The centers of the places in a square image, row by row: x and y in pixels, (places, 2)."""
    middles = STRIDE * (torch.arange(isqrt(places), device=device) + 0.5)
    return torch.cartesian_prod(middles, middles).flip(1)


def suppress(boxes: Tensor, labels: Tensor) -> Tensor:
    """Which boxes stay, shape (batch, boxes): non-maximum suppression within each class.

    Boxes are sorted by score, highest first. A box is removed if it overlaps an earlier box that
    stays. Each pass settles at least one more box; usually, three passes settle all.
    Cluster NMS: Zheng and others 2020, https://arxiv.org/abs/2005.03572
    """
    same = labels.unsqueeze(2) == labels.unsqueeze(1)
    overlaps = iou(boxes.unsqueeze(2), boxes.unsqueeze(1)) > OVERLAP
    hides = (overlaps & same).triu(diagonal=1)  # [image, box, a later box]
    stays, before = torch.ones_like(labels, dtype=torch.bool), None
    while before is None or not torch.equal(stays, before):
        stays, before = ~(hides & stays.unsqueeze(2)).any(dim=1), stays
    return stays


#: region rows
def find_objects(outputs: Tensor) -> Tensor:
    """The detections of each image, shape (batch, 100, 6), from the highest score to the lowest.

    A row has the box, the score and the class. The score of an unused row is 0.
    """
    boxes, scores = outputs[..., :4], outputs[..., 4:].sigmoid()
#: end rows
    classes = scores.shape[2]
    scores, places = scores.flatten(1).topk(min(CANDIDATES, scores[0].numel()))
    labels = places % classes
    boxes = boxes.gather(1, (places // classes).unsqueeze(2).expand(-1, -1, 4))
    scores = scores * suppress(boxes, labels)
    scores, order = scores.sort(dim=1, descending=True, stable=True)
    #: region found
    found = torch.cat([boxes, labels.unsqueeze(2)], dim=2)
    found = found.gather(1, order.unsqueeze(2).expand(-1, -1, 5))
    #: end found
    found = torch.cat([found[..., :4], scores.unsqueeze(2), found[..., 4:]], dim=2)[:, :DETECTIONS]
    #: slot mask_logits
    return F.pad(found, (0, 0, 0, DETECTIONS - found.shape[1]))

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
