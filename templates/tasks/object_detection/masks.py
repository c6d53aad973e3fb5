#: file when find=masks
"""Masks: which pixels belong to each object.

The model returns features for each place, which all masks of an image share, and the weights of one
mask: that of an object at this place. The logits of a mask are the features of all places times its
weights. It is cropped to its box, as in YOLACT: Bolya and others 2019,
https://arxiv.org/abs/1904.02689
"""

from math import isqrt

import numpy as np
import torch
import torch.nn.functional as F
from pycocotools import mask as coco
from torch import Tensor

FEATURES = 16  # per place; a mask has the same number of weights


def split(outputs: Tensor) -> tuple[Tensor, ...]:
    """What the model returns for each place: a box, logits, weights of a mask, and features."""
    classes = outputs.shape[-1] - 4 - 2 * FEATURES
    return outputs.split([4, classes, FEATURES, FEATURES], dim=-1)


def inside(boxes: Tensor, size: int, height: int, width: int) -> Tensor:
    """Which pixels have their center in a box, shape (boxes, height, width).

    Boxes are in pixels of the image that the model sees, `size` on each side. They get one pixel
    more on each side, as in YOLACT, so that a box that is a little too small cuts off no mask.
    """
    left, top, right, bottom = boxes.unsqueeze(2).unbind(dim=1)
    x, y = (size * (torch.arange(n, device=boxes.device) + 0.5) / n for n in (width, height))
    rows, columns = (top - 1 <= y) & (y < bottom + 1), (left - 1 <= x) & (x < right + 1)
    return rows.unsqueeze(2) & columns.unsqueeze(1)


def find_masks(found: Tensor, size: int, height: int, width: int) -> Tensor:
    """Masks of detections, rows of find_objects(), shape (detections, height, width).

    `size` is that of the image that the model sees. Height and width may be different.
    """
    side = isqrt(found.shape[1] - 6)
    logits = found[:, 6:].unflatten(1, (side, side)).unsqueeze(1)
    logits = F.interpolate(logits, (height, width), mode="bilinear").squeeze(1)
    return (logits > 0) & inside(found[:, :4], size, height, width)


def encode(mask: Tensor) -> dict:
    """A mask as COCO's run lengths, ready for JSON."""
    runs = coco.encode(np.asfortranarray(mask.byte().cpu().numpy()))
    return {**runs, "counts": runs["counts"].decode()}


def decode(runs: dict) -> Tensor:
    """The inverse of encode(): a mask, shape (height, width)."""
    return torch.from_numpy(coco.decode(runs)).bool()
