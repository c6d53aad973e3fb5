from functools import partial

from datasets import ClassLabel, load_dataset
from torch import Tensor

#: slot build_datasets
class Images(Dataset):
    """Center crops of RGB images, and their class indices."""

    def __init__(self, rows, config) -> None:
        self.rows, self.config = rows, config
        self.transform = partial(to_square, size=config.image_size)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        row = self.rows[index]
        image = self.transform(row[self.config.image_column])
        return image, row[self.config.label_column]


def build_datasets(config) -> list[Dataset]:
    """The splits train, validation and test. A missing one is a tenth of train."""
    splits = load_splits(config)
    class_names(config)  # checks the columns
    parts = {name: Images(rows, config) for name, rows in splits.items()}
    # a fixed seed: another --seed must not move test samples into the training data
    rng = torch.Generator().manual_seed(0)
    for name in ("validation", "test"):
        if name not in parts:
            if len(parts["train"]) < 10:
                raise SystemExit(f"{config.dataset_name} has too few images to split: use 11.")
            parts["train"], parts[name] = random_split(parts["train"], [0.9, 0.1], generator=rng)
    return [parts["train"], parts["validation"], parts["test"]]


def class_names(config) -> list[str]:
    columns = load_splits(config)["train"].features
    for flag, name in (("image", config.image_column), ("label", config.label_column)):
        if name not in columns:
            raise SystemExit(
                f"{config.dataset_name} has no column {name}: "
                f"--{flag}-column names one of {', '.join(columns)}."
            )
    label = columns[config.label_column]
    if not isinstance(label, ClassLabel):
        raise SystemExit(f"the column {config.label_column} holds {label}, not a ClassLabel.")
    return label.names

#: replace load
splits = load_dataset(name)
