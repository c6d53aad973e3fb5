import torch
from torch import Tensor

from boxes import area, intersect, iou
from data import Objects
from masks import find_masks

#: slot classes
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
