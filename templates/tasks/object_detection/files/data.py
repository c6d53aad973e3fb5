"""The data: images, shape (batch, 3, size, size), from 0 to 1, and the objects in each of them.

The objects of an image are a dictionary of tensors with a row for each: `boxes`, (objects, 4), with
left, top, right and bottom in pixels, `labels`, their class indices, and `crowd`, which
says whether it is a group of objects: it is not learned, and detections in it are ignored.
"""

import numpy as np
import torch
from PIL import Image
from torch import Tensor
from torch.utils.data import Dataset, default_collate, random_split

#: slot about_masks
Objects = dict[str, Tensor]


def to_tensor(image: Image.Image, size: int) -> Tensor:
    """An RGB image, scaled, shape (3, size, size), from 0 to 1."""
    scaled = np.array(image.resize((size, size), Image.Resampling.BILINEAR)).transpose(2, 0, 1)
    return torch.from_numpy(np.ascontiguousarray(scaled)) / 255  # faster to stack into batches


def collate(samples: list[tuple[Tensor, Objects]]) -> tuple[Tensor, list[Objects]]:
    """A batch. Each image keeps its own number of objects, which may be 0."""
    images, targets = zip(*samples, strict=True)
    return default_collate(images), list(targets)


#: slot build_datasets


#: slot datasets


#: slot build_loaders
