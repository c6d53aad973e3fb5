from pathlib import Path

from PIL import Image, ImageOps
from torch import Tensor

from data import SIZE, ImageFiles, UnreadableImage

#: slot functions when dataset=digits|mnist
def read_image(path: Path) -> Tensor:
    """A digit, white on black, shape (1, SIZE, SIZE), from 0 to 255."""
    try:
        picture = Image.open(path)
        if picture.mode[0] in "IF":  # convert() would clip them
            raise ValueError("save it with 8 bits for each pixel")
        image = ImageOps.fit(picture.convert("L"), (SIZE, SIZE))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise SystemExit(f"{path} can't be read as an image: {error}") from error
    return torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8).view(1, SIZE, SIZE)

#: slot before_batches when dataset=image_folder
settings = {"batch_size": 4 * config.batch_size, "num_workers": config.num_workers}

#: replace images when dataset=image_folder
for images in DataLoader(ImageFiles(share, config.image_size), **settings):
    images = images.to(device)

#: wrap batches when dataset=image_folder
try:
    ...  #: body
except UnreadableImage as error:  # a data worker puts its traceback above
    raise SystemExit(str(error).rpartition("UnreadableImage: ")[2].strip()) from None
