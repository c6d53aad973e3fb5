#: when dataset=scenes
from pathlib import Path

from PIL import Image, ImageOps

from data import class_names

#: slot functions
def read_image(path: Path) -> torch.Tensor:
    """Digits, white on black, shape (1, 16, 16), from 0 to 255."""
    try:
        image = ImageOps.fit(Image.open(path).convert("L"), (16, 16))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise SystemExit(f"{path} can't be read as an image: {error}") from error
    return torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8).view(1, 16, 16)

#: slot before_batches when labels=many
names = class_names(config)
