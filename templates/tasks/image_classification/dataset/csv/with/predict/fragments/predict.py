from functools import partial
from pathlib import Path

from data import UnreadableImage, read_image, to_square
from torch import Tensor

#: slot functions
def read_images(config: Config, paths: list[Path]) -> Tensor:
    """Images as the model takes them, shape (batch, 3, size, size)."""
    transform = partial(to_square, size=config.image_size)
    return torch.stack([read_image(path, transform) for path in paths])

#: slot before_batches
settings = {"num_workers": config.num_workers, "collate_fn": partial(read_images, config)}

#: replace images
for images in torch.utils.data.DataLoader(share, 4 * config.batch_size, **settings):
    images = images.to(device)

#: wrap batches
try:
    ...  #: body
except UnreadableImage as error:  # a data worker puts its traceback above
    raise SystemExit(str(error).rpartition("UnreadableImage: ")[2].strip()) from None
