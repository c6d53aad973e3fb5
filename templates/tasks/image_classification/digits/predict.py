#: when dataset=digits
from pathlib import Path

from PIL import Image, ImageOps

#: slot functions
def read_image(path: Path) -> torch.Tensor:
    """A digit, white on black, shape (1, 8, 8), from 0 to 255."""
    try:
        picture = Image.open(path)
        if picture.mode[0] in "IF":  # convert() would clip them
            raise ValueError("save it with 8 bits for each pixel")
        image = ImageOps.fit(picture.convert("L"), (8, 8))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise SystemExit(f"{path} can't be read as an image: {error}") from error
    return torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8).view(1, 8, 8)
