#: when dataset=coco
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pycocotools import mask as coco

from lib.coco import find_part, read_annotations, read_categories, read_images, read_values
from lib.images import open_image
from lib.polygons import read_mask

#: slot build_datasets
@dataclass
class Annotated:
    """An image on the disk, and the masks of its objects."""

    image: Path
    size: tuple[int, int]  # width and height in pixels
    labels: list[int] = field(default_factory=list)
    masks: list[dict] = field(default_factory=list)  # as COCO's run lengths


class MaskedImages(Dataset):
    """RGB images, shape (3, size, size), from 0 to 1, and their masks, shape (size, size)."""

    def __init__(self, rows: list[Annotated], size: int) -> None:
        self.rows, self.transform = rows, partial(scale, size=size)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        row = self.rows[index]
        return self.transform(open_image(row.image), draw_mask(row))


def draw_mask(row: Annotated) -> Image.Image:
    """The class of each pixel: 0 where no object is, and VOID where those of two classes are."""
    width, height = row.size
    mask = np.zeros((height, width), np.uint8)
    for label, runs in zip(row.labels, row.masks, strict=True):
        inside = coco.decode(runs).astype(bool)
        alone = np.isin(mask[inside], (0, label))
        mask[inside] = np.where(alone, label, VOID)
    return Image.fromarray(mask)


def build_datasets(config) -> list[Dataset]:
    """Training, validation and test data. A missing split is a tenth of the training images.

    Raises SystemExit for an invalid image or object, before training starts.
    """
    if not Path(config.path).is_dir():
        raise SystemExit(f"{config.path} is not a folder: set --path to the one with the images.")
    parts = {}
    # a fixed seed: another --seed must not move test images into the training data
    rng = torch.Generator().manual_seed(0)
    for name in ("train", "val", "test"):
        if path := find_part(config, name):
            rows = read_part(path, config)
            if not any(row.labels for row in rows):
                raise SystemExit(f"{path} has no images with objects.")
            parts[name] = MaskedImages(rows, config.image_size)
        elif len(parts["train"]) < 10:
            raise SystemExit(f"{config.path} has too few images to split: use 11, or add {name}/.")
        else:
            parts["train"], parts[name] = random_split(parts["train"], [0.9, 0.1], generator=rng)
    return list(parts.values())


def read_part(path: Path, config) -> list[Annotated]:
    """The images of a COCO file, each with its objects.

    Class 0 is the background. The categories follow, in the order of their ids.
    """
    names = read_categories(path)
    rows = {key: Annotated(*file) for key, file in read_images(path).items()}
    if len(names) + 1 != config.classes:
        raise SystemExit(
            f"{path} has {len(names)} categories: set --classes to {len(names) + 1}, because the "
            "background is a class, too."
        )
    if names != read_categories(trained := find_part(config, "train")):
        raise SystemExit(f"{path} and {trained} have different categories.")
    labels = {key: label for label, key in enumerate(names, start=1)}
    for place, row in read_annotations(path, rows):
        image, [shape] = rows[row["image_id"]], read_values(row, ["segmentation"], place)
        image.labels.append(labels[row["category_id"]])
        image.masks.append(read_mask(shape, image.image, image.size, f"{place}, segmentation"))
    return list(rows.values())
