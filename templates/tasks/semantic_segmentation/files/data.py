"""The data: images, shape (batch, 3, size, size), from 0 to 1, and masks, (batch, size, size).

A mask has the class of each pixel, or VOID, which is ignored.
"""

import numpy as np
import torch
from PIL import Image
from torch import Tensor
from torch.utils.data import Dataset, random_split

VOID = 255


def to_tensor(image: Image.Image, size: int) -> Tensor:
    """An RGB image, scaled, shape (3, size, size), from 0 to 1."""
    scaled = np.array(image.resize((size, size), Image.Resampling.BILINEAR)).transpose(2, 0, 1)
    return torch.from_numpy(np.ascontiguousarray(scaled)) / 255  # faster to stack into batches


#: slot load_splits


#: slot build_datasets


#: slot datasets


#: slot build_loaders
