from pathlib import Path

from PIL import Image, UnidentifiedImageError
from torch import Tensor

#: slot build_datasets
def read_image(path, transform) -> Tensor:
    """An image, as the transform makes it. Raises UnreadableImage with its path."""
    try:
        with Image.open(path) as picture:
            return transform(picture)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise UnreadableImage(f"{path} can't be read as an image: {error}") from error


def check_images(paths: list[Path]) -> None:
    """Raises SystemExit for a file that is no image, as its first bytes say."""
    for path in paths:
        try:
            Image.open(path).close()
        except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
            reason = "remove it." if isinstance(error, UnidentifiedImageError) else error
            raise SystemExit(f"{path} can't be read as an image: {reason}") from error
