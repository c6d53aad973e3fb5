from functools import partial

from datasets import Image as ImageColumn
from datasets import load_dataset
from PIL import ImageOps

#: slot build_datasets
class MaskedRows(Dataset):
    """RGB images, shape (3, size, size), from 0 to 1, and their masks, shape (size, size)."""

    def __init__(self, rows, name: str, config) -> None:
        self.rows, self.name, self.config = rows, name, config
        self.transform = partial(scale, size=config.image_size)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        return self.transform(*self.read(index)[:2])

    def read(self, index: int) -> tuple[Image.Image, Image.Image, str, str]:
        """The image and the mask of a row, and their names. Raises UnreadableImage."""
        columns = self.config.image_column, self.config.mask_column
        names = [f"{self.name}, row {index + 1}, column {column}" for column in columns]
        stored = [self.rows[index][column] for column in columns]
        image = read_stored(stored[0], names[0], to_rgb)
        return image, read_stored(stored[1], names[1], ImageOps.exif_transpose), *names


def build_datasets(config) -> list[Dataset]:
    """The splits train, validation and test. A missing one is a tenth of train."""
    splits = load_splits(config)
    for flag, name in (("image", config.image_column), ("mask", config.mask_column)):
        if not isinstance(splits["train"].features.get(name), ImageColumn):
            raise SystemExit(
                f"{config.dataset_name} has no column {name} with images: "
                f"--{flag}-column names one of {', '.join(splits['train'].features)}."
            )
        splits = splits.cast_column(name, ImageColumn(decode=False))
    parts = {}
    for name, rows in splits.items():
        parts[name] = MaskedRows(rows, f"{config.dataset_name}, {name}", config)
        check_classes(check_rows(parts[name]), parts[name].name, training=name == "train")
    # a fixed seed: another --seed must not move test images into the training data
    rng = torch.Generator().manual_seed(0)
    for name in ("validation", "test"):
        if name not in parts:
            if len(parts["train"]) < 10:
                raise SystemExit(f"{config.dataset_name} has too few images to split: use 11.")
            parts["train"], parts[name] = random_split(parts["train"], [0.9, 0.1], generator=rng)
    return [parts["train"], parts["validation"], parts["test"]]


def check_rows(data: MaskedRows) -> list[set[int]]:
    """The classes in each mask. Raises SystemExit for an unreadable image, or a mask of another."""
    try:
        return [check_mask(*data.read(index), data.config) for index in range(len(data))]
    except UnreadableImage as error:
        raise SystemExit(str(error)) from error

#: replace load
splits = load_dataset(name)
