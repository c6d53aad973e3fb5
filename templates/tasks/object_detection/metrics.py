from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from boxes import area, intersect, iou
from data import Objects
from masks import find_masks

#: slot classes when find=masks
def box_shares(found: Tensor, objects: Objects) -> Tensor:
    """The IoUs of boxes, shape (100, objects). In a crowd, it is the part of the box within it."""
    boxes, true = found[:, None, :4].double(), objects["boxes"].cpu().double()
    covered = area(intersect(boxes, true)) / area(boxes).clamp(min=1e-9)
    return torch.where(objects["crowd"].cpu(), covered, iou(boxes, true))


def mask_shares(found: Tensor, objects: Objects) -> Tensor:
    """The IoUs of masks, shape (100, objects). In a crowd, it is the part of the mask within it."""
    size, crowd = objects["masks"].shape[-1], objects["crowd"].cpu()
    known = (found[:, 5:6] == objects["labels"].cpu()).any(dim=1)  # the others find nothing
    masks = find_masks(found[known], size, size, size).flatten(1).float()
    true = objects["masks"].cpu().flatten(1).float()
    shared = (masks @ true.T).double()
    pixels, others = masks.sum(dim=1, keepdim=True).double(), true.sum(dim=1).double()
    union = torch.where(crowd, pixels, pixels + others - shared)
    shares = torch.zeros(len(found), len(true), dtype=torch.float64)
    shares[known] = shared / union.clamp(min=1)
    return shares

#: slot classes
IOUS = torch.from_numpy(np.linspace(0.5, 0.95, 10))  # thresholds from which a box counts as right
RECALLS = torch.from_numpy(np.linspace(0, 1, 101))  # at which precision is measured


def judge(
    found: Tensor, targets: list[Objects]
    #: slot measure
) -> Tensor:
    """The score and class of each detection, and whether it is right, shape (batch, 100, 12).

    The last ten values are for the IoUs: 1 is right, 0 is wrong, and -1 is ignored. `found` is
    what find_objects() returns.
    #: slot about_measure
    """
    #: region rows
    rows = [judge_image(*pair) for pair in zip(found.cpu(), targets, strict=True)]
    #: end rows
    return torch.stack(rows).to(found.device)


def judge_image(
    found: Tensor, objects: Objects
    #: slot measured
) -> Tensor:
    """The rows of judge() for an image, shape (100, 12).

    #: region about_shares
    Detections are sorted by score, highest first. Each finds the object of its class that it
    overlaps most, among those not found yet. If only a crowd fits, the detection is ignored.
    #: end about_shares
    """
    #: region shares
    true, labels, crowd = (objects[name].cpu() for name in ("boxes", "labels", "crowd"))
    boxes, true = found[:, None, :4].double(), true.double()
    shares = iou(boxes, true)
    covered = area(intersect(boxes, true)) / area(boxes).clamp(min=1e-9)
    shares = torch.where(crowd, covered, shares)  # any number of boxes may find a crowd
    #: end shares
    left = found[:, None, 4] > 0  # what find_objects() took out finds nothing
    shares = shares.where(left & (found[:, None, 5] == labels), -1)
    outcome = torch.zeros(len(found), len(IOUS)).masked_fill(found[:, None, 4] == 0, -1)
    free = (~crowd).repeat(len(IOUS), 1)
    for row in (shares >= IOUS[0]).any(dim=1).nonzero().flatten().tolist():
        fits = shares[row] >= IOUS[:, None]  # [IoU, object]
        best, place = shares[row].where(fits & free, -1).flip(1).max(dim=1)  # the last one in a tie
        right = best >= 0
        free[right, len(labels) - 1 - place[right]] = False
        outcome[row, (fits & crowd).any(dim=1)] = -1
        outcome[row, right] = 1
    #: region judged
    return torch.cat([found[:, 4:], outcome], dim=1)
    #: end judged


def count_objects(targets: list[Objects], classes: int) -> Tensor:
    """The objects of each class in each image, shape (batch, classes), without crowds."""
    rows = [objects["labels"][~objects["crowd"]] for objects in targets]
    return torch.stack([row.bincount(minlength=classes) for row in rows])


def detection_scores(judged: Tensor, objects: Tensor) -> dict[str, float]:
    """Mean average precision of all images, from what judge() and count_objects() return.

    The precision at 101 recalls, averaged over the classes and over all IoUs (map), or at the IoU
    0.5 (map_50) or 0.75 (map_75). Classes without objects are left out; without any object, it is
    -1. These are the metrics of COCO: https://cocodataset.org/#detection-eval
    """
    judged, counts = judged.cpu().flatten(0, 1).double(), objects.cpu().sum(dim=0)
    precisions = []
    for label in counts.nonzero().flatten().tolist():
        rows = judged[judged[:, 1] == label]
        outcome = rows[rows[:, 0].argsort(descending=True, stable=True), 2:].T.contiguous()
        right, wrong = ((outcome == value).double().cumsum(dim=1) for value in (1, 0))
        precision = F.pad(right / (right + wrong).clamp(min=1), (0, 1))  # 0 where nothing is found
        precision = precision.flip(1).cummax(dim=1).values.flip(1)  # the best from here on
        reached = torch.searchsorted(right / counts[label], RECALLS.repeat(len(IOUS), 1))
        precisions.append(precision.gather(1, reached).mean(dim=1))
    if not precisions:
        return dict.fromkeys(("map", "map_50", "map_75"), -1.0)
    by_iou = torch.stack(precisions).mean(dim=0)
    return {"map": float(by_iou.mean()), "map_50": float(by_iou[0]), "map_75": float(by_iou[5])}

#: slot measure when find=masks
, shares: Callable = box_shares

#: slot about_measure when find=masks
`shares` measures the overlap: box_shares or mask_shares.

#: replace rows when find=masks
pairs = zip(found.cpu(), targets, strict=True)
rows = [judge_image(one, objects, shares(one, objects)) for one, objects in pairs]

#: slot measured when find=masks
, shares: Tensor

#: replace about_shares when find=masks
Detections are sorted by score, highest first. Each finds the object of its class with the
highest of its `shares`, among those not found yet. If only a crowd fits, it is ignored.

#: replace shares when find=masks
labels, crowd = objects["labels"].cpu(), objects["crowd"].cpu()

#: replace judged when find=masks
return torch.cat([found[:, 4:6], outcome], dim=1)
