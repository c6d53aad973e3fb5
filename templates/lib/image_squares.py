#: into data.py at build_datasets
"""Center crops of images, whose values are from 0 to 1."""

import numpy as np
import torch
from lib.images import decode
from PIL import Image, ImageOps
from torch import Tensor


def to_tensor(picture: Image.Image) -> Tensor:
    """An RGB picture, shape (3, height, width), from 0 to 1."""
    pixels = np.array(picture).transpose(2, 0, 1)
    return torch.from_numpy(np.ascontiguousarray(pixels)) / 255  # faster to stack into batches


def to_square(picture: Image.Image, size: int) -> Tensor:
    """The center crop of an image, shape (3, size, size)."""
    return to_tensor(ImageOps.fit(decode(picture, size), (size, size)))
