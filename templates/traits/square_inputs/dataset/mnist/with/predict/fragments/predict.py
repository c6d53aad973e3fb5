from pathlib import Path

from data import SIZE
from PIL import Image, ImageOps
from torch import Tensor

#: slot functions
def read_image(path: Path) -> Tensor:
    """A digit, white on black, shape (1, SIZE, SIZE), from 0 to 255."""
    try:
        image = ImageOps.fit(Image.open(path).convert("L"), (SIZE, SIZE))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise SystemExit(f"{path} can't be read as an image: {error}") from error
    return torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8).view(1, SIZE, SIZE)
