import pytest
import train
from data import build_datasets, class_names
from torchvision.utils import save_image
from helpers import SETTINGS
import torch
from pathlib import Path

#: slot tests
def paint(folder: Path, colors: dict[str, list[float]], number: int) -> None:
    """Write `number` images of one color (red, green, blue) for each class."""
    for name, color in colors.items():
        (folder / name).mkdir(parents=True)
        image = torch.tensor(color).reshape(3, 1, 1).expand(3, 30, 40)
        for index in range(number):
            save_image(image, folder / name / f"{index}.png")


def test_folders_become_datasets(tmp_path):
    config = train.Config(**{**SETTINGS, "path": str(tmp_path), "image_size": 16})
    colors = {"blue": [0.0, 0.0, 1.0], "red": [1.0, 0.0, 0.0]}
    paint(tmp_path, colors, 50)
    assert class_names(config) == ["blue", "red"]
    assert [len(part) for part in build_datasets(config)] == [81, 10, 9], "a tenth for each split"
    for image, label in build_datasets(config)[2]:
        colour = 255 * torch.eye(3, dtype=torch.uint8)[[2, 0][label]]
        expected = colour.reshape(3, 1, 1).expand(3, 16, 16)
        assert torch.equal(image, expected)  # blue before red


def test_folders_of_parts(tmp_path):
    config = train.Config(**{**SETTINGS, "path": str(tmp_path)})
    colors = {"blue": [0.0, 0.0, 1.0], "red": [1.0, 0.0, 0.0]}
    paint(tmp_path / "train", colors, 10)
    paint(tmp_path / "test", colors, 4)
    assert [len(part) for part in build_datasets(config)] == [18, 2, 8]
    paint(tmp_path / "val", {"blue": [0.0, 0.0, 1.0], "yellow": [1.0, 1.0, 0.0]}, 3)
    with pytest.raises(SystemExit, match="has the classes"):
        build_datasets(config)


def test_folders_that_do_not_fit(tmp_path):
    (tmp_path / "empty").mkdir()
    blue, red = [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]
    paint(tmp_path / "few", {"blue": blue, "red": red}, 3)
    paint(tmp_path / "one", {"blue": blue}, 12)
    faults = {"none": "is not a folder", "empty": "needs a folder", "few": "too few images"}
    faults["one"] = "has one class, blue"
    for name, message in faults.items():
        path = tmp_path / name
        with pytest.raises(SystemExit, match=message):
            build_datasets(train.Config(**{**SETTINGS, "path": str(path)}))
