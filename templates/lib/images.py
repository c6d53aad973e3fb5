#: into data.py at build_datasets
"""Images of any kind, read as RGB."""

from io import BytesIO
from pathlib import Path

from PIL import ExifTags, Image, ImageOps, UnidentifiedImageError
from torch import Tensor

# what Image.open may read: EPS files would start another program
FORMATS = ["BMP", "GIF", "ICO", "JPEG", "JPEG2000", "PNG", "PPM", "TGA", "TIFF", "WEBP"]


class UnreadableImage(OSError):
    """A file that can't be read as an image."""


def to_rgb(picture: Image.Image) -> Image.Image:
    """An upright RGB picture. Raises ValueError for pixels of 32 bits, which have no range."""
    ImageOps.exif_transpose(picture, in_place=True)
    if picture.mode in ("I", "F"):
        raise ValueError("it has 32 bits for each pixel: save it with 8 or 16")
    if picture.mode.startswith("I;16"):  # convert() would make white of all values above 255
        picture = picture.convert("I").point(lambda value: value / 257).convert("L")
    return picture if picture.mode == "RGB" else picture.convert("RGB")


def decode(picture: Image.Image, size: int) -> Image.Image:
    """An upright RGB picture. A large JPEG is decoded at a smaller size, at least twice `size`."""
    picture.draft("RGB", (2 * size, 2 * size))
    return to_rgb(picture)


def read_image(path, transform) -> Tensor:
    """An image, as the transform makes it. Raises UnreadableImage with its path."""
    try:
        with Image.open(path, formats=FORMATS) as picture:
            return transform(picture)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise UnreadableImage(f"{path} can't be read as an image: {error}") from error


def check_images(paths: list[Path]) -> None:
    """Raises SystemExit for a file that is no image, as its first bytes say."""
    for path in paths:
        try:
            Image.open(path, formats=FORMATS).close()
        except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
            reason = "remove it." if isinstance(error, UnidentifiedImageError) else error
            raise SystemExit(f"{path} can't be read as an image: {reason}") from error


def read_stored(stored: dict | None, place: str, transform):
    """The image in a row, as the transform makes it. Raises UnreadableImage with its place.

    It is as stored: if datasets decoded it, an error would not say which row it is.
    """
    if stored is None:
        raise UnreadableImage(f"{place} has no image.")
    try:
        content = BytesIO(stored["bytes"] or Path(stored["path"]).read_bytes())
        with Image.open(content, formats=FORMATS) as picture:
            return transform(picture)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        reason = str(error).partition(" <_io")[0]  # without the address of the bytes
        raise UnreadableImage(f"{place} can't be read as an image: {reason}") from error


def open_image(path: Path) -> Image.Image:
    """An upright RGB image. Raises UnreadableImage with its path."""
    try:
        with Image.open(path, formats=FORMATS) as file:
            return to_rgb(file)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise UnreadableImage(f"{path} can't be read as an image: {error}") from error


def image_size(path: Path) -> tuple[int, int]:
    """Width and height of the upright image, in pixels. Raises SystemExit if there is none."""
    try:
        with Image.open(path, formats=FORMATS) as file:
            width, height = file.size
            turned = file.getexif().get(ExifTags.Base.Orientation, 1) >= 5
    except (OSError, Image.DecompressionBombError) as error:
        raise SystemExit(f"{path} can't be read as an image: {error}") from error
    return (height, width) if turned else (width, height)
