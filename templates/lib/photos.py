#: into predict.py at functions
"""Predictions of the model of a run for new images."""

from pathlib import Path

from lib.images import FORMATS, to_rgb
from PIL import Image


def read_image(path: Path) -> Image.Image:
    """An upright RGB image."""
    try:
        with Image.open(path, formats=FORMATS) as picture:
            return to_rgb(picture)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise SystemExit(f"{path} can't be read as an image: {error}") from error
