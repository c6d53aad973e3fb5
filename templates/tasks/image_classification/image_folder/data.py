#: when dataset=image_folder
from functools import partial
from pathlib import Path

from torch import Tensor
from torch.utils.data import Subset
from torchvision.datasets import ImageFolder

from lib.folders import class_folders, find_split, is_hidden, note_others, note_outside
from lib.image_bytes import to_square
from lib.image_folders import SUFFIXES
from lib.images import check_images, read_image
from lib.names import check_spelling
from lib.splits import find_shares, split_by_class

#: slot build_datasets
class Images(ImageFolder):
    """Center crops of RGB images, and their class indices. Hidden files are left out."""

    def find_classes(self, directory: str) -> tuple[list[str], dict[str, int]]:
        names = [folder.name for folder in class_folders(Path(directory))]
        return names, {name: label for label, name in enumerate(names)}

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        path, label = self.samples[index]
        return read_image(path, self.transform), label


def build_datasets(config) -> list[Dataset]:
    """The images in train/, val/ and test/ below the path, with a subfolder for each class.

    Without train/, the path itself holds these subfolders. A missing val/ or test/ is replaced by a
    share of the training images.
    """
    trained, root = training_folder(config), Path(config.path)
    train_set = read_folder(trained, config)
    folders = [find_split(root, name) for name in ("val", "test")]
    note_outside(root, [trained, *folders, *(class_folders(root) if trained == root else [])])
    apart = [read_folder(folder, config) if folder.is_dir() else None for folder in folders]
    shares = find_shares(apart, config)
    if any(shares) and len(train_set) < 10:
        raise SystemExit(f"{config.path} has too few images to split: use 10, or add splits.")
    parts = [Subset(train_set, part) for part in split_by_class(train_set.targets, shares)]
    return [whole or part for whole, part in zip([None, *apart], parts, strict=True)]


def read_folder(folder, config) -> Images:
    """The images below a folder, which must have the classes of the training data."""
    others: list[Path] = []

    def is_shown(name: str) -> bool:
        path = Path(name)
        if path.suffix.lower() not in SUFFIXES:
            others.append(path)
            return False
        return not is_hidden(path, folder)

    try:
        transform = partial(to_square, size=config.image_size)
        data = Images(folder, transform, is_valid_file=is_shown)
    except (FileNotFoundError, ValueError) as error:
        raise SystemExit(f"{folder} needs a folder of images for each class: {error}") from error
    if data.classes != (classes := class_names(config)):
        raise SystemExit(f"{folder} has the classes {data.classes}, the training data {classes}.")
    if len(classes) < 2:
        raise SystemExit(f"{folder} has one class, {classes[0]}: a classifier needs two.")
    note_others(folder, others)
    if folder != Path(config.path):
        note_outside(folder, class_folders(folder))
    check_images([path for path, _ in data.samples])
    return data


def training_folder(config) -> Path:
    """The folder with a subfolder for each class."""
    if not Path(config.path).is_dir():
        raise SystemExit(f"{config.path} is not a folder: set --path to the one with the images.")
    folder = find_split(Path(config.path), "train")
    return folder if folder.is_dir() else Path(config.path)


def class_names(config) -> list[str]:
    folders = class_folders(training_folder(config))
    check_spelling({folder.name: str(folder) for folder in folders}, "class")
    return [folder.name for folder in folders]
