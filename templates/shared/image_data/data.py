#: file when project.task=autoencoder|diffusion|gan|self_supervised
"""The data: {{ task.images }}"""

import torch
from torch.utils.data import Dataset, random_split

#: slot row_readers


#: slot build_datasets


#: slot datasets


#: slot build_loaders
#: end file

from pathlib import Path

from accelerate import PartialState
from sklearn.datasets import load_digits
from torch.utils.data import TensorDataset
from torchvision.datasets import MNIST

from lib.folders import find_split, note_outside
from lib.image_folders import SUFFIXES, ImageFiles, find_images

#: slot build_datasets when dataset=digits
SIZE = 8  # pixels, both ways


def build_datasets(config) -> list[Dataset]:
    """1797 handwritten digits, split into training, validation and test data."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(digits.target)
    # a fixed seed: another --seed must not move test samples into the training data
    rng = torch.Generator().manual_seed(0)
    return random_split(TensorDataset(images, labels), [0.8, 0.1, 0.1], generator=rng)

#: slot build_datasets when dataset=mnist
SIZE = 28  # pixels, both ways


def build_datasets(config) -> list[Dataset]:
    """MNIST, downloaded to data/: 50,000, 10,000 and 10,000 handwritten digits."""
    with PartialState().local_main_process_first():  # the other processes reuse the download
        parts = [MNIST("data", train=train, download=True) for train in (True, False)]
    train_set, test_set = (
        TensorDataset(part.data.unsqueeze(1) / 255, part.targets) for part in parts
    )
    # a fixed seed: another --seed must not move validation samples into the training data
    rng = torch.Generator().manual_seed(0)
    return [*random_split(train_set, [5 / 6, 1 / 6], generator=rng), test_set]

#: slot build_datasets when dataset=image_folder
def build_datasets(config) -> list[Dataset]:
    """The images in train/, val/ and test/ below the path, directly or in subfolders.

    Without train/, all other images below the path are training data. A missing val/ or test/ is
    replaced by a tenth of the training images.
    """
    folder = Path(config.path)
    if not folder.is_dir():
        raise SystemExit(f"{folder} is not a folder: set --path to the one with the images.")
    splits = {name: find_split(folder, name) for name in ("train", "val", "test")}
    paths = {name: find_images(split) for name, split in splits.items()}
    if paths["train"]:
        note_outside(folder, splits.values())
    else:
        others = {*paths["val"], *paths["test"]}
        paths["train"] = [path for path in find_images(folder) if path not in others]
    if not paths["train"]:
        raise SystemExit(f"{folder} has no images to train on: they end in {', '.join(SUFFIXES)}.")
    #: region parts
    parts = {name: ImageFiles(paths[name], config.image_size) for name in paths}
    #: end parts
    # a fixed seed: another --seed must not move test images into the training data
    rng = torch.Generator().manual_seed(0)
    for name in ("val", "test"):
        if not paths[name]:
            if len(parts["train"]) < 10:
                raise SystemExit(
                    f"{folder} has too few images to split: use 11, or add {folder / name}."
                )
            parts["train"], parts[name] = random_split(parts["train"], [0.9, 0.1], generator=rng)
    return list(parts.values())
