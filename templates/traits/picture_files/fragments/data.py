from PIL import Image
from torch import Tensor

#: slot build_datasets
def read_image(path, transform) -> Tensor:
    """An image, as the transform makes it. Raises OSError with its path if it can't be read."""
    try:
        with Image.open(path) as picture:
            return transform(picture)
    except (OSError, SyntaxError, ValueError) as error:
        raise OSError(f"{path} can't be read as an image: {error}") from error
