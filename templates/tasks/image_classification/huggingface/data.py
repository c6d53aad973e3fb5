#: when dataset=huggingface
from functools import partial

from datasets import ClassLabel, load_dataset
from datasets import Image as ImageColumn
from torch import Tensor
from torch.utils.data import Subset

from lib.hub import load_splits
from lib.image_bytes import to_square
from lib.images import UnreadableImage, read_stored
from lib.splits import find_shares, split_by_class

#: slot build_datasets
class Images(Dataset):
    """Center crops of RGB images, and their class indices."""

    def __init__(self, rows, name: str, config) -> None:
        self.rows, self.name, self.config = rows, name, config
        self.transform = partial(to_square, size=config.image_size)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        row, place = self.rows[index], f"{self.name}, row {index + 1}"
        image = read_stored(row[self.config.image_column], place, self.transform)
        return image, row[self.config.label_column]


def build_datasets(config) -> list[Dataset]:
    """The splits train, validation and test. A missing one is a share of train."""
    splits = load_splits(config)
    class_names(config)  # checks the columns
    stored = splits.cast_column(config.image_column, ImageColumn(decode=False))
    parts = {}
    for part, rows in stored.items():
        parts[part] = Images(rows, f"{config.dataset_name}, {part}", config)
        check_rows(parts[part], len(class_names(config)))
    train_set, apart = parts["train"], [parts.get("validation"), parts.get("test")]
    shares = find_shares(apart, config)
    if any(shares) and len(train_set) < 10:
        raise SystemExit(f"{config.dataset_name} has too few images to split: use 10.")
    labels = list(train_set.rows[config.label_column])
    parts = [Subset(train_set, part) for part in split_by_class(labels, shares)]
    return [whole or part for whole, part in zip([None, *apart], parts, strict=True)]


def check_rows(data: Images, classes: int) -> None:
    """Raises SystemExit for a row without an image, as its first bytes say, or without a label."""
    for number, label in enumerate(data.rows[data.config.label_column], start=1):
        if label not in range(classes):  # -1 in a split without labels
            raise SystemExit(f"{data.name}, row {number} has no {data.config.label_column}.")
    column = data.config.image_column
    for number, row in enumerate(data.rows.select_columns(column), start=1):
        try:
            read_stored(row[column], f"{data.name}, row {number}", lambda picture: None)
        except UnreadableImage as error:
            raise SystemExit(str(error)) from error


def class_names(config) -> list[str]:
    columns = load_splits(config)["train"].features
    for flag, name in (("image", config.image_column), ("label", config.label_column)):
        if name not in columns:
            raise SystemExit(
                f"{config.dataset_name} has no column {name}: "
                f"--{flag}-column names one of {', '.join(columns)}."
            )
    if not isinstance(columns[config.image_column], ImageColumn):
        raise SystemExit(
            f"{config.dataset_name}: the column {config.image_column} holds no images."
        )
    label = columns[config.label_column]
    if not isinstance(label, ClassLabel):
        raise SystemExit(
            f"{config.dataset_name}: the column {config.label_column} holds {label}, "
            "not a ClassLabel."
        )
    if len(label.names) < 2:
        raise SystemExit(
            f"{config.dataset_name} has one class, {label.names[0]}: a classifier needs two."
        )
    return label.names

#: replace load
splits = load_dataset(name)
