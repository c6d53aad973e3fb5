#: file when model=small|timm
"""The training loss."""

import torch
import torch.nn.functional as F
from torch import Tensor

from boxes import STRIDE, area, find_centers, intersect, iou
from data import Objects


def compute_loss(outputs: Tensor, targets: list[Objects]) -> Tensor:
    """The loss of each image, shape (batch,)."""
    return torch.stack([image_loss(*pair) for pair in zip(outputs, targets, strict=True)])


def image_loss(output: Tensor, objects: Objects) -> Tensor:
    """The loss of an image, divided by the number of places that belong to its objects.

    The target of such a place is the box of its object, with the generalized IoU as loss
    (Rezatofighi and others 2019, https://arxiv.org/abs/1902.09630). The target of a class score is
    the IoU of the predicted box, and 0 at all other places: the quality focal loss (Li and others
    2020, https://arxiv.org/abs/2006.04388). So a high score also means a good box.
    #: slot about_masks
    """
    #: region parts
    boxes, logits = output[:, :4], output[:, 4:]
    #: end parts
    known = ~objects["crowd"]
    true, labels = objects["boxes"][known], objects["labels"][known]
    places, owners = assign(true, len(output))
    scores = torch.zeros_like(logits)
    scores[places, labels[owners]] = iou(boxes[places], true[owners]).detach()
    errors = F.binary_cross_entropy_with_logits(logits, scores, reduction="none")
    quality = errors * (scores - logits.sigmoid()).detach().square()
    distances = 1 - generalized_iou(boxes[places], true[owners])
    #: region sum
    return (4 * quality.sum() + distances.sum()) / max(len(places), 1)
    #: end sum


#: slot functions


def assign(true: Tensor, places: int) -> tuple[Tensor, Tensor]:
    """The places that belong to an object, and the index of the object for each of them.

    An object has the places less than 1.5 strides from its center in both directions, usually nine.
    If a place could belong to two objects, the smaller one gets it.
    """
    centers = (true[:, :2] + true[:, 2:]) / 2
    distances = (find_centers(places, true.device).unsqueeze(1) - centers).abs().amax(dim=2)
    sizes = area(true).expand(places, -1).masked_fill(distances >= 1.5 * STRIDE, torch.inf)
    smallest, owners = F.pad(sizes, (0, 1), value=torch.inf).min(dim=1)
    owned = smallest.isfinite()
    return owned.nonzero().flatten(), owners[owned]


def generalized_iou(boxes: Tensor, others: Tensor) -> Tensor:
    """The IoU minus the uncovered share of the smallest box around both, from -1 to 1."""
    shared = area(intersect(boxes, others))
    union = area(boxes) + area(others) - shared
    corner = torch.minimum(boxes[:, :2], others[:, :2])
    around = area(torch.cat([corner, torch.maximum(boxes[:, 2:], others[:, 2:])], dim=1))
    return shared / union.clamp(min=1e-9) - (around - union) / around.clamp(min=1e-9)
#: end file

from math import isqrt

from masks import inside, split

#: slot about_masks when find=masks

The mean of mask_loss() over these places is added.

#: replace parts when find=masks
boxes, logits, weights, features = split(output)

#: replace sum when find=masks
masks = mask_loss(weights[places] @ features.T, objects["masks"][known][owners], true[owners])
return (4 * quality.sum() + distances.sum() + 4 * masks.sum()) / max(len(places), 1)

#: slot functions when find=masks
def mask_loss(logits: Tensor, masks: Tensor, boxes: Tensor) -> Tensor:
    """The cross-entropy of each mask, averaged over the places in its box.

    The target of a place is the share of its pixels that belong to the object.
    """
    side, size = isqrt(logits.shape[1]), masks.shape[-1]
    shares = F.adaptive_avg_pool2d(masks.float(), side).flatten(1)
    errors = F.binary_cross_entropy_with_logits(logits, shares, reduction="none")
    within = inside(boxes, size, side, side).flatten(1)
    return (errors * within).sum(dim=1) / within.sum(dim=1).clamp(min=1)
