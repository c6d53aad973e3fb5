#: when dataset=image_folder
import json
from functools import partial
from pathlib import Path

from torch import Tensor

from data import UnreadableImage, read_image, to_square

#: slot functions
def read_images(config: Config, paths: list[Path]) -> Tensor:
    """Images as the model takes them, shape (batch, 3, size, size)."""
    transform = partial(to_square, size=config.image_size)
    return torch.stack([read_image(path, transform) for path in paths])

#: slot before_batches
names = json.loads((config.output_dir / "classes.json").read_text())
settings = {"num_workers": config.num_workers, "collate_fn": partial(read_images, config)}

#: replace images
for images in torch.utils.data.DataLoader(share, 4 * config.batch_size, **settings):
    images = images.to(device)

#: replace named
prob_of = dict(zip(names, probs, strict=True))
row = {"label": max(prob_of, key=prob_of.get)}
rows.append(row | {f"p_{name}": prob for name, prob in prob_of.items()})

#: wrap batches
try:
    ...  #: body
except UnreadableImage as error:  # a data worker puts its traceback above
    raise SystemExit(str(error).rpartition("UnreadableImage: ")[2].strip()) from None
