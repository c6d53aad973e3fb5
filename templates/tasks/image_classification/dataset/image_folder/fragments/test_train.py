import pytest
import train
from data import build_datasets, count_classes
from PIL import Image

#: slot tests
def paint(folder: Path, colours: dict[str, str], number: int) -> None:
    """So many images of one colour for each class."""
    for name, colour in colours.items():
        (folder / name).mkdir(parents=True)
        for index in range(number):
            Image.new("RGB", (40, 30), colour).save(folder / name / f"{index}.png")


def test_folders_become_datasets(tmp_path):
    config = train.Config(**{**SETTINGS, "path": str(tmp_path), "image_size": 16})
    colours = {"blue": "#0000ff", "red": "#ff0000"}
    paint(tmp_path, colours, 50)
    assert count_classes(config) == 2
    assert [len(part) for part in build_datasets(config)] == [81, 10, 9], "a tenth for each part"
    for image, label in build_datasets(config)[2]:
        expected = torch.eye(3)[[2, 0][label]].reshape(3, 1, 1).expand(3, 16, 16)
        torch.testing.assert_close(image, expected)  # from 0 to 1, blue before red


def test_folders_of_parts(tmp_path):
    config = train.Config(**{**SETTINGS, "path": str(tmp_path)})
    colours = {"blue": "#0000ff", "red": "#ff0000"}
    paint(tmp_path / "train", colours, 10)
    paint(tmp_path / "test", colours, 4)
    assert [len(part) for part in build_datasets(config)] == [18, 2, 8]
    paint(tmp_path / "val", {"blue": "#0000ff", "yellow": "#ffff00"}, 3)
    with pytest.raises(SystemExit, match="has the classes"):
        build_datasets(config)


def test_folders_that_do_not_fit(tmp_path):
    for path, message in ((tmp_path / "none", "is no folder"), (tmp_path, "needs a folder")):
        with pytest.raises(SystemExit, match=message):
            build_datasets(train.Config(**{**SETTINGS, "path": str(path)}))
