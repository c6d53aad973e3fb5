from pathlib import Path

from PIL import ExifTags, Image

#: slot build_datasets
def open_image(path: Path) -> Image.Image:
    """An upright RGB image. Raises UnreadableImage with its path."""
    try:
        with Image.open(path) as file:
            return to_rgb(file)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise UnreadableImage(f"{path} can't be read as an image: {error}") from error


def image_size(path: Path) -> tuple[int, int]:
    """Width and height of the upright image, in pixels. Raises SystemExit if there is none."""
    try:
        with Image.open(path) as file:
            width, height = file.size
            turned = file.getexif().get(ExifTags.Base.Orientation, 1) >= 5
    except (OSError, Image.DecompressionBombError) as error:
        raise SystemExit(f"{path} can't be read as an image: {error}") from error
    return (height, width) if turned else (width, height)


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise SystemExit(f"{path} can't be read: {error}") from error
