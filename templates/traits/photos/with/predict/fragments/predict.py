from pathlib import Path

from PIL import Image, ImageOps

#: slot functions
def read_image(path: Path) -> Image.Image:
    """An upright RGB image."""
    try:
        return ImageOps.exif_transpose(Image.open(path)).convert("RGB")
    except (OSError, SyntaxError, ValueError) as error:
        raise SystemExit(f"{path} can't be read as an image: {error}") from error
