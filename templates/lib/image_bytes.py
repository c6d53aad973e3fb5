#: into data.py at build_datasets
"""Center crops of images, whose values are bytes."""

import numpy as np
import torch
from lib.images import decode
from PIL import Image, ImageOps
from torch import Tensor


def to_tensor(picture: Image.Image) -> Tensor:
    """The bytes of an RGB picture, shape (3, height, width), which the model scales."""
    # they take a quarter of the memory, and a GPU scales a whole batch at once
    return torch.from_numpy(np.array(picture)).permute(2, 0, 1)


def to_square(picture: Image.Image, size: int) -> Tensor:
    """The center crop of an image, shape (3, size, size)."""
    return to_tensor(ImageOps.fit(decode(picture, size), (size, size)))
