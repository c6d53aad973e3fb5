#: when dataset=image_folder|huggingface|csv
import json
from functools import partial
from pathlib import Path

from PIL import Image
from torch import Tensor

from lib.image_bytes import to_square
from lib.images import FORMATS, UnreadableImage, read_image

#: slot functions when dataset=image_folder|csv
def read_images(config: Config, paths: list[Path]) -> Tensor:
    """Images as the model takes them, shape (batch, 3, size, size)."""
    transform = partial(to_square, size=config.image_size)
    return torch.stack([read_image(path, transform) for path in paths])

#: slot functions when dataset=huggingface
def read_images(config: Config, paths: list[Path]) -> Tensor:
    """Images as the model takes them, shape (batch, 3, size, size)."""
    images = []
    for path in paths:
        try:
            with Image.open(path, formats=FORMATS) as picture:
                images.append(to_square(picture, config.image_size))
        except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
            raise OSError(f"{path} can't be read as an image: {error}") from error
    return torch.stack(images)

#: slot before_batches when dataset=image_folder|huggingface
names = json.loads((config.output_dir / "classes.json").read_text())

#: slot before_batches
settings = {"num_workers": config.num_workers, "collate_fn": partial(read_images, config)}

#: slot before_batches when dataset=csv labels=one|many
names = json.loads((config.output_dir / "classes.json").read_text())

#: replace images
for images in torch.utils.data.DataLoader(share, 4 * config.batch_size, **settings):
    images = images.to(device)

#: replace named with labels
prob_of = dict(zip(names, probs, strict=True))
row = {"label": max(prob_of, key=prob_of.get)}
rows.append(row | {f"p_{name}": prob for name, prob in prob_of.items()})

#: wrap batches when dataset=image_folder|csv
try:
    ...  #: body
except UnreadableImage as error:  # a data worker puts its traceback above
    raise SystemExit(str(error).rpartition("UnreadableImage: ")[2].strip()) from None

#: wrap batches when dataset=huggingface
try:
    ...  #: body
except OSError as error:  # only the last line: data workers put a traceback above it
    raise SystemExit(str(error).splitlines()[-1]) from error
