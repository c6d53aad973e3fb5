from pathlib import Path

from torch import Tensor

from data import read_image

#: slot functions
def read_picture(path: Path, config: Config) -> Tensor:
    """An image as the model takes it, shape (3, size, size)."""
    try:
        return read_image(path, config)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise SystemExit(f"{path} can't be read as an image: {error}") from error
