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
    """Training, validation and test data. A missing split is a tenth of the training images.

    Raises SystemExit for an invalid image or mask, before training starts.
    """
    folder = Path(config.path)
    if not folder.is_dir():
        raise SystemExit(f"{folder} is not a folder: set --path to one with images/ and masks/.")
    parts = {"train": read_part(folder, "train", config)}
    # a fixed seed: another --seed must not move test images into the training data
    rng = torch.Generator().manual_seed(0)
    for name in ("val", "test"):
        if find_part(folder, name):
            parts[name] = read_part(folder, name, config)
        elif len(parts["train"]) < 10:
            raise SystemExit(
                f"{folder} has too few images to split: use 11, or add {folder / name}."
            )
        else:
            parts["train"], parts[name] = random_split(parts["train"], [0.9, 0.1], generator=rng)
    return [parts["train"], parts["val"], parts["test"]]


def find_part(folder: Path, name: str) -> tuple[Path, Path] | None:
    """The folders of the images and of the masks of a split: train/images/ or images/train/.

    Without them, images/ and masks/ have the training data.
    """
    images, masks = folder / "images", folder / "masks"
    if (split := find_split(folder, name)).is_dir():
        return split / "images", split / "masks"
    if (split := find_split(images, name)).is_dir():
        return split, find_split(masks, name)
    return (images, masks) if name == "train" else None


def read_part(folder: Path, name: str, config) -> MaskedImages:
    """The images of a split. Raises SystemExit for a mask that does not fit its image."""
    image_folder, mask_folder = find_part(folder, name)
    found, images = find_files(mask_folder), find_files(image_folder)
    if not images:
        raise SystemExit(f"{image_folder} has no images.")
    masks = {path.stem: path for path in found}
    if twice := [path for path in found if masks[path.stem] != path]:
        raise SystemExit(f"{twice[0]} and {masks[twice[0].stem]} are masks of the same image.")
    if lost := [path for path in images if path.stem not in masks]:
        raise SystemExit(f"{lost[0]} has no mask {mask_folder / lost[0].stem}.png.")
    pairs = [(path, masks[path.stem]) for path in images]
    classes = []
    for image, mask in pairs:
        pictures = read_picture(image, to_rgb), read_picture(mask)
        classes.append(check_mask(*pictures, str(image), str(mask), config))
    check_classes(classes, str(mask_folder), training=name == "train")
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
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise SystemExit(f"{path} can't be read as an image: {error}") from error
