from io import BytesIO
from pathlib import Path

from PIL import Image

#: slot build_datasets
def read_stored(stored: dict | None, place: str, transform):
    """The image in a row, as the transform makes it. Raises UnreadableImage with its place.

    It is as stored: if datasets decoded it, an error would not say which row it is.
    """
    if stored is None:
        raise UnreadableImage(f"{place} has no image.")
    try:
        with Image.open(BytesIO(stored["bytes"] or Path(stored["path"]).read_bytes())) as picture:
            return transform(picture)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        reason = str(error).partition(" <_io")[0]  # without the address of the bytes
        raise UnreadableImage(f"{place} can't be read as an image: {reason}") from error
