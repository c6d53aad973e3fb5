from pathlib import Path
from typing import BinaryIO

import numpy as np
from PIL import Image, ImageOps

from lib.images import to_rgb

#: slot find_problem
def find_problem(file: Path | BinaryIO) -> str:
    """Why an image can't be read, or nothing."""
    try:
        with Image.open(file) as picture:
            to_rgb(picture)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        return str(error)
    return ""

#: slot read_image
def read_image(file: Path | BinaryIO, config) -> Tensor:
    """The center crop of an image, upright, as RGB, shape (3, size, size)."""
    with Image.open(file) as picture:
        square = ImageOps.fit(to_rgb(picture), (config.image_size, config.image_size))
    return torch.from_numpy(np.array(square)).permute(2, 0, 1) / 255
