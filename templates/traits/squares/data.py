import numpy as np
from PIL import Image, ImageOps
from torch import Tensor

#: slot build_datasets
def decode(picture: Image.Image, size: int) -> Image.Image:
    """An upright RGB picture. A large JPEG is decoded at a smaller size, at least twice `size`."""
    picture.draft("RGB", (2 * size, 2 * size))
    return to_rgb(picture)


def to_tensor(picture: Image.Image) -> Tensor:
    #: region to_tensor
    """An RGB picture, shape (3, height, width), from 0 to 1."""
    pixels = np.array(picture).transpose(2, 0, 1)
    return torch.from_numpy(np.ascontiguousarray(pixels)) / 255  # faster to stack into batches
    #: end to_tensor


def to_square(picture: Image.Image, size: int) -> Tensor:
    """The center crop of an image, shape (3, size, size)."""
    return to_tensor(ImageOps.fit(decode(picture, size), (size, size)))
