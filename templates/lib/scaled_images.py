#: into data.py at build_datasets
"""Images that are scaled to squares."""

import numpy as np
import torch
from PIL import Image
from torch import Tensor


def to_tensor(image: Image.Image, size: int) -> Tensor:
    """An RGB image, scaled, shape (3, size, size), from 0 to 1."""
    scaled = np.array(image.resize((size, size), Image.Resampling.BILINEAR)).transpose(2, 0, 1)
    return torch.from_numpy(np.ascontiguousarray(scaled)) / 255  # faster to stack into batches
