"""Images from a folder: classes beside the weights, workers that decode, changes of torchvision."""

import json
from pathlib import Path
from random import Random

import pytest
from conftest import render, write_files
from training import start

pytestmark = pytest.mark.train


def paint(folder: Path, names: list[str], number: int) -> None:
    """Noisy images, each class in a colour of its own."""
    from PIL import Image

    draw = Random(0)
    for label, name in enumerate(names):
        (folder / name).mkdir(parents=True)
        for index in range(number):
            image = Image.new("RGB", (40, 30))
            colour = [255 if channel == label else 0 for channel in range(3)]
            noisy = [tuple(abs(c - draw.randint(0, 99)) for c in colour) for _ in range(1200)]
            image.putdata(noisy)
            image.save(folder / name / f"{index}.png")


FOLDER = {
    "image_classification.dataset": "image_folder",
    "image_classification.image_size": 16,
}


def test_classes_are_saved_and_resumed(tmp_path: Path) -> None:
    """By default, workers decode the images."""
    paint(tmp_path / "images", ["blue", "red"], 40)
    folder = write_files(tmp_path, render(FOLDER))
    assert "num_workers: int = 4 " in (folder / "train.py").read_text()
    train = ["train.py", "--batch-size", "8", "--num-workers", "1", "--epochs"]
    result = start(folder, [*train, "1"], 1)
    assert result.returncode == 0, result.stderr
    saved = folder / "runs/latest/classes.json"
    assert json.loads(saved.read_text()) == ["blue", "red"]
    (tmp_path / "images/red").rename(tmp_path / "images/violet")
    result = start(folder, [*train, "2", "--resume"], 1)
    assert result.returncode == 1 and "Traceback" not in result.stderr
    assert "was saved with classes ['blue', 'red']. With ['blue', 'violet']" in result.stderr
    assert json.loads(saved.read_text()) == ["blue", "red"]
    (tmp_path / "images/violet").rename(tmp_path / "images/red")
    assert start(folder, [*train, "2", "--resume"], 1).returncode == 0


@pytest.mark.parametrize("kind", ["photo", "randaugment"])
def test_photos_are_changed_the_same_after_a_resume(kind: str, tmp_path: Path) -> None:
    """And with any number of workers."""
    paint(tmp_path / "images", ["blue", "green", "red"], 20)
    changes = {"features.augmentation.enabled": True, "features.augmentation.kind": kind}
    changes["features.schedule.enabled"] = False  # it would depend on max_steps
    folder = write_files(tmp_path, render({**FOLDER, **changes}))
    train = ["train.py", "--batch-size", "8", "--num-workers"]
    weights = []
    for name, workers, stops in (("whole", "0", []), ("resumed", "1", ["--max-steps", "8"])):
        output = ["--output-dir", name, "--epochs", "2"]
        result = start(folder, [*train, workers, *output, *stops], 1)
        assert result.returncode == 0, result.stderr
        if stops:
            result = start(folder, [*train, "2", *output, "--max-steps", "0", "--resume"], 1)
            assert result.returncode == 0, result.stderr
        weights.append((folder / name / "model.safetensors").read_bytes())
    assert weights[0] == weights[1]
