import data as data_module
import datasets
import pytest
import torch
import train
from PIL import Image
from data import build_datasets, class_names
from dataclasses import replace
from helpers import SETTINGS
from pathlib import Path

#: slot tests
def save_dataset(folder: Path, **sizes: int) -> train.Config:
    """Splits of red and blue images as Parquet files, and the settings that load them."""
    features = {"picture": datasets.Image(), "kind": datasets.ClassLabel(names=["red", "blue"])}
    for name, size in sizes.items():
        kinds = [index % 2 for index in range(size)]
        pictures = [Image.new("RGB", (40, 30), ["#ff0000", "#0000ff"][kind]) for kind in kinds]
        rows = {"picture": pictures, "kind": kinds}
        split = datasets.Dataset.from_dict(rows, features=datasets.Features(features))
        split.to_parquet(folder / f"{name}.parquet")
    changes = {"dataset_name": str(folder), "image_column": "picture", "label_column": "kind"}
    return train.Config(**{**SETTINGS, **changes, "image_size": 16})


def test_splits_become_datasets(tmp_path):
    config = save_dataset(tmp_path, train=20, test=4)
    assert class_names(config) == ["red", "blue"]
    parts = build_datasets(config)
    assert [len(part) for part in parts] == [18, 2, 4], "a tenth is for validation"
    for image, label in parts[2]:
        colour = 255 * torch.eye(3, dtype=torch.uint8)[[0, 2][label]]
        expected = colour.reshape(3, 1, 1).expand(3, 16, 16)
        assert torch.equal(image, expected)


def test_columns_that_do_not_fit(tmp_path):
    config = save_dataset(tmp_path, train=20)
    changes = [("label_column", "class", "has no column class"), ("label_column", "picture", "not")]
    changes += [("image_column", "kind", "holds no images")]
    for name, value, message in changes:
        with pytest.raises(SystemExit, match=message):
            build_datasets(replace(config, **{name: value}))


def test_a_broken_image_is_named(tmp_path):
    """Before training, if it is none, or when it is read, if it is cut off."""
    config = save_dataset(tmp_path, train=20)
    rows = datasets.load_dataset(str(tmp_path), split="train")
    stored = list(rows.cast_column("picture", datasets.Image(decode=False))["picture"])
    for data in (stored[4]["bytes"][:-30], b"no image"):
        stored[4] = {"bytes": data, "path": None}
        kinds = [index % 2 for index in range(20)]
        changed = datasets.Dataset.from_dict({"picture": stored, "kind": kinds})
        changed.cast(rows.features).to_parquet(tmp_path / "train.parquet")
        data_module.load_splits.cache_clear()
        with pytest.raises((SystemExit, OSError), match="train, row 5 can't be read as an image"):
            [*build_datasets(config)[0], *build_datasets(config)[1], *build_datasets(config)[2]]
