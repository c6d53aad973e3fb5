#: with unlabelled_images
from pathlib import Path

import pytest
import torch
from PIL import Image

import train
from data import build_datasets
from helpers import SETTINGS

#: slot tests when dataset=image_folder
def paint(folder: Path, number: int) -> train.Config:
    """Write red images of several sizes and kinds. Returns the settings that load them."""
    folder.mkdir(parents=True, exist_ok=True)
    for index in range(number):
        mode = ["RGB", "RGBA", "P"][index % 3]
        image = Image.new("RGB", (30 + index, 40), "red").convert(mode)
        image.save(folder / f"{index}.png")
    return train.Config(**{**SETTINGS, "path": str(folder), "image_size": 12})


def sizes(config) -> list[int]:
    return [len(part) for part in build_datasets(config)]


def test_images_become_datasets(tmp_path):
    """Directly in the folder or in subfolders, of any size and kind."""
    config = paint(tmp_path, 60)
    paint(tmp_path / "more", 40)
    Image.new("L", (9, 90), 255).save(tmp_path / "white.JPG")
    assert sizes(config) == [82, 10, 9], "a tenth for each split"
    white = 0
    for part in build_datasets(config):
        for image in part:
            expected = torch.tensor([1.0, 0.0, 0.0]).reshape(3, 1, 1).expand(3, 12, 12)
            white += int((image == 1).all())
            assert torch.equal(image, expected) or (image == 1).all()
    assert white == 1


def test_folders_of_parts(tmp_path):
    config = paint(tmp_path, 20)
    paint(tmp_path / "test", 3)
    assert sizes(config) == [18, 2, 3]
    paint(tmp_path / "train" / "red", 7)
    paint(tmp_path / "val", 2)
    assert sizes(config) == [7, 2, 3], "train/ holds the training data"


@pytest.mark.parametrize(
    ("number", "message"), [(None, "is not a folder"), (0, "no images"), (9, "too few images")]
)
def test_folders_that_do_not_fit(number, message, tmp_path):
    config = train.Config(**{**SETTINGS, "path": str(tmp_path / "images")})
    if number is not None:
        paint(tmp_path / "images", number)
    with pytest.raises(SystemExit, match=message):
        build_datasets(config)


def test_an_unreadable_image_is_named(tmp_path):
    config = paint(tmp_path, 20)
    whole = (tmp_path / "7.png").read_bytes()
    (tmp_path / "7.png").write_bytes(whole[:60])
    with pytest.raises(OSError, match="7.png can't be read as an image"):
        [image for part in build_datasets(config) for image in part]
    (tmp_path / "7.png").write_text("no image")
    with pytest.raises(SystemExit, match="7.png can't be read as an image"):
        build_datasets(config)
