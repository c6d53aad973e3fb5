from pathlib import Path

from PIL import Image, ImageOps

#: slot functions
def read_image(path: Path) -> torch.Tensor:
    """A digit, white on black, shape (1, 8, 8), from 0 to 255."""
    try:
        image = ImageOps.fit(Image.open(path).convert("L"), (8, 8))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise SystemExit(f"{path} can't be read as an image: {error}") from error
    return torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8).view(1, 8, 8)
