from pathlib import Path

from PIL import Image

from data import to_rgb

#: slot functions
def read_image(path: Path) -> Image.Image:
    """An upright RGB image."""
    try:
        with Image.open(path) as picture:
            return to_rgb(picture)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise SystemExit(f"{path} can't be read as an image: {error}") from error
