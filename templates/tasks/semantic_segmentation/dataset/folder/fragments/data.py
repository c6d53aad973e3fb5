from functools import partial
from pathlib import Path

from PIL import ImageOps

#: slot build_datasets
Pairs = list[tuple[Path, Path]]  # images, and their masks


class MaskedImages(Dataset):
    """RGB images, shape (3, size, size), from 0 to 1, and their masks, shape (size, size)."""

    def __init__(self, pairs: Pairs, size: int) -> None:
        self.pairs, self.transform = pairs, partial(scale, size=size)

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        image, mask = self.pairs[index]
        return self.transform(read_picture(image, to_rgb), read_picture(mask))


def build_datasets(config) -> list[Dataset]:
    """The images in train/, val/ and test/ below the path, each with images/ and masks/.

    Without train/, the path itself has images/ and masks/. A missing val/ or test/ is replaced by a
    tenth of the training images.
    """
    folder = Path(config.path)
    if not folder.is_dir():
        raise SystemExit(f"{folder} is not a folder: set --path to one with images/ and masks/.")
    training = folder / "train" if (folder / "train").is_dir() else folder
    parts = {"train": read_part(training, config, training=True)}
    # a fixed seed: another --seed must not move test images into the training data
    rng = torch.Generator().manual_seed(0)
    for name in ("val", "test"):
        if (folder / name).is_dir():
            parts[name] = read_part(folder / name, config)
        elif len(parts["train"]) < 10:
            raise SystemExit(
                f"{folder} has too few images to split: use 11, or add {folder / name}."
            )
        else:
            parts["train"], parts[name] = random_split(parts["train"], [0.9, 0.1], generator=rng)
    return [parts["train"], parts["val"], parts["test"]]


def read_part(folder: Path, config, training: bool = False) -> MaskedImages:
    """The images of a split. Raises SystemExit for a mask that does not fit its image."""
    found = find_files(folder / "masks")
    images = find_files(folder / "images")
    masks = {path.stem: path for path in found}
    if twice := [path for path in found if masks[path.stem] != path]:
        raise SystemExit(f"{twice[0]} and {masks[twice[0].stem]} are masks of the same image.")
    if lost := [path for path in images if path.stem not in masks]:
        raise SystemExit(f"{lost[0]} has no mask {folder / 'masks' / lost[0].stem}.png.")
    pairs = [(path, masks[path.stem]) for path in images]
    classes = []
    for image, mask in pairs:
        pictures = read_picture(image, to_rgb), read_picture(mask)
        classes.append(check_mask(*pictures, str(image), str(mask), config))
    check_classes(classes, str(folder), training)
    return MaskedImages(pairs, config.image_size)


def find_files(folder: Path) -> list[Path]:
    """The files of a folder, in the order of their names. Hidden files are left out."""
    if not folder.is_dir():
        raise SystemExit(f"{folder} is missing: masks/ has a mask for each image in images/.")
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def read_picture(path: Path, turn=ImageOps.exif_transpose) -> Image.Image:
    """An upright picture. Raises SystemExit if it can't be read."""
    try:
        with Image.open(path) as file:
            return turn(file)
    except (OSError, SyntaxError, ValueError) as error:
        raise SystemExit(f"{path} can't be read as an image: {error}") from error
