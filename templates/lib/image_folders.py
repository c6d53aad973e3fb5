#: into data.py at build_datasets
"""Images of any size in a folder, and below it."""

from functools import partial
from pathlib import Path

from lib.folders import is_hidden, note_others
from lib.image_squares import to_square
from lib.images import check_images, read_image
from torch import Tensor
from torch.utils.data import Dataset

JPEG = (".jfif", ".jpe", ".jpeg", ".jpg")
SUFFIXES = (*JPEG, ".bmp", ".gif", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp")


class ImageFiles(Dataset):
    """Center crops of images as RGB, shape (3, size, size), from 0 to 1."""

    def __init__(self, paths: list[Path], size: int) -> None:
        self.paths, self.transform = paths, partial(to_square, size=size)
        check_images(paths)

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> Tensor:
        return read_image(self.paths[index], self.transform)


class LabelledFiles(ImageFiles):
    """Images with their class indices: the index of the folder among the names."""

    def __init__(self, paths: list[Path], size: int, classes: list[str]) -> None:
        super().__init__(paths, size)
        self.classes = classes

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        return super().__getitem__(index), self.classes.index(self.paths[index].parent.name)


def find_classes(paths: dict[str, list[Path]]) -> list[str]:
    """The names of the folders that the training images are in, one for each class."""
    classes = sorted({path.parent.name for path in paths["train"]})
    if len(classes) < 2:
        folder = paths["train"][0].parent
        raise SystemExit(f"All training images are in the folder {folder}: use two, or more.")
    for path in [*paths["val"], *paths["test"]]:
        if path.parent.name not in classes:
            raise SystemExit(f"{path} has a class without training images: {path.parent.name}.")
    return classes


def find_images(folder: Path) -> list[Path]:
    """All images below a folder, in the order of their names. Hidden ones are left out."""
    shown = [path for path in folder.rglob("*") if not is_hidden(path, folder)]
    others = [path for path in shown if path.suffix.lower() not in SUFFIXES]
    note_others(folder, others)
    return sorted(path for path in shown if path.suffix.lower() in SUFFIXES)
