"""Semantic segmentation of a user's images and masks."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from conftest import render, write_files
from training import count_passed, run_python, run_tests, said, start

from scaffold.answers.catalog import Value

pytestmark = pytest.mark.train

TASK = "semantic_segmentation"
FOLDER: dict[str, Value] = {
    f"{TASK}.dataset": "folder",
    f"{TASK}.path": "scans",
    f"{TASK}.classes": 3,
    f"{TASK}.image_size": 16,
    "training.num_workers": 0,
}
BRIEF = ["--epochs", "1", "--batch-size", "4"]
# images of several sizes; the masks have three classes, and void at the top
DRAW = """
import sys
import numpy as np
from pathlib import Path
from PIL import Image
folder, count = Path(sys.argv[1]), int(sys.argv[2])
for name in ("images", "masks"):
    (folder / name).mkdir(parents=True)
draw = np.random.default_rng(0)
for number in range(count):
    height, width = 20 + number % 5, 30 - number % 3
    mask = np.zeros((height, width), np.uint8)
    mask[4:12, 4 : 9 + number % 9], mask[12:, 15:], mask[:2] = 1, 2, 255
    image = 80 * (mask % 255)[..., None] + draw.integers(0, 60, (height, width, 3))
    Image.fromarray(image.astype(np.uint8)).save(folder / "images" / f"{number:03}.png")
    picture = Image.fromarray(mask)
    if number % 2:
        picture.putpalette(list(range(256)) * 3)
    picture.save(folder / "masks" / f"{number:03}.png")
"""
WRONG = """
import shutil
from PIL import Image
size = (30, 20)
wrong = {"size": Image.new("L", (5, 5)), "class": Image.new("L", size, 7)}
wrong["color"] = Image.new("RGB", size)
for name, picture in wrong.items():
    shutil.copytree("scans", name)
    picture.save(f"{name}/masks/000.png")
shutil.copytree("scans", "lost")
open("lost/images/x.png", "w").close()
shutil.copytree("scans", "damaged")
open("damaged/images/000.png", "w").close()
shutil.copytree("scans", "float")
Image.new("F", size).save("float/images/000.tif")
"""


def make_project(folder: Path, given: Mapping[str, Value], count: int = 40) -> Path:
    """A project for images of a folder, and the folder."""
    write_files(folder, render({"project.task": TASK, **FOLDER, **given}))
    drawn = run_python(folder, ["-c", DRAW, "scans", str(count)])
    assert drawn.returncode == 0, drawn.stderr
    return folder


def test_a_users_folder_trains_and_a_wrong_mask_is_named(tmp_path: Path) -> None:
    """Nothing is trained then. Predicted masks have the size of their images."""
    project = make_project(tmp_path, {})
    trained = start(project, ["train.py", *BRIEF], 1)
    assert trained.returncode == 0, trained.stderr
    asked = run_python(project, ["predict.py", "scans/images"])
    assert asked.returncode == 0, asked.stderr
    rows = list(csv.DictReader(asked.stdout.splitlines()))
    assert len(rows) == 40
    for row in rows:
        assert sum(float(row[f"class_{label}"]) for label in range(3)) == pytest.approx(1)
    ask = "from PIL import Image; import sys; print([Image.open(p).size for p in sys.argv[1:]])"
    sizes = run_python(project, ["-c", ask, rows[0]["mask"], rows[0]["image"]]).stdout
    assert sizes == "[(30, 20), (30, 20)]\n"
    assert run_python(project, ["-c", WRONG]).returncode == 0
    expected = {
        "size": "size/masks/000.png does not have the size of size/images/000.png.",
        "class": "class/masks/000.png has the class 7. Classes are from 0 to 2 (--classes)",
        "color": "color/masks/000.png is not a grayscale or palette image, but RGB.",
        "lost": "lost/images/x.png has no mask lost/masks/x.png.",
        "damaged": "damaged/images/000.png can't be read as an image: ",
        "float": "float/images/000.tif can't be read as an image: it has 32 bits for each pixel",
        "nowhere": "nowhere is not a folder: set --path to one with images/ and masks/.",
        "runs": "runs/masks is missing: masks/ has a mask for each image in images/.",
    }
    calls = [["--path", name, "--output-dir", "runs/other"] for name in expected]
    for message, start_of_it in zip(
        said(project, "train.py", *calls), expected.values(), strict=True
    ):
        assert message.startswith(start_of_it)
    assert not (project / "runs/other").exists()


def test_masks_are_changed_the_same_after_a_resume(tmp_path: Path) -> None:
    """With another number of workers, too."""
    changes = {"features.augmentation.enabled": True, "features.augmentation.kind": "photo"}
    off: dict[str, Value] = {"features.schedule.enabled": False}  # it would depend on max_steps
    project = make_project(tmp_path, {**changes, **off})
    train = ["train.py", "--epochs", "2", "--batch-size", "8", "--num-workers"]
    weights = []
    for name, calls in (
        ("whole", [["0"]]),
        ("resumed", [["1", "--max-steps", "6"], ["0", "--max-steps", "0", "--resume"]]),
    ):
        for arguments in calls:
            result = start(project, [*train, *arguments, "--output-dir", name], 1)
            assert result.returncode == 0, result.stderr
        weights.append((project / name / "model.safetensors").read_bytes())
    assert weights[0] == weights[1]


EXACT = """
import json
import torch
from data import VOID, build_loaders
from predict import load
from torchmetrics.classification import MulticlassAccuracy, MulticlassJaccardIndex
config, model = load()
settings = {"num_classes": config.classes, "ignore_index": VOID}
iou = MulticlassJaccardIndex(**settings, average="macro")
accuracy = MulticlassAccuracy(**settings, average="micro")
with torch.no_grad():
    for images, masks in build_loaders(config)[2]:
        for metric in (iou, accuracy):
            metric.update(model(images).argmax(dim=1), masks)
print(json.dumps({"mean_iou": float(iou.compute()), "pixel_accuracy": float(accuracy.compute())}))
"""


@pytest.mark.sweep
def test_metrics_are_those_of_torchmetrics_on_any_processes(tmp_path: Path) -> None:
    """On 1, 2 and 3 processes, of a number of images that none of them divides."""
    project = make_project(tmp_path, {"features.evaluate.enabled": True})
    drawn = run_python(project, ["-c", DRAW, "scans/test", "37"])
    assert drawn.returncode == 0, drawn.stderr
    trained = start(project, ["train.py", "--epochs", "3", "--batch-size", "4"], 1)
    assert trained.returncode == 0, trained.stderr
    result = run_python(project, ["-c", EXACT])
    assert result.returncode == 0, result.stderr
    expected = json.loads(result.stdout.splitlines()[-1])
    for processes in (1, 2, 3):
        result = start(project, ["evaluate.py"], processes)
        assert result.returncode == 0, result.stderr
        report = json.loads((project / "runs/latest/evaluation/test/metrics.json").read_text())
        for name, value in expected.items():
            assert report[f"test_{name}"]["value"] == pytest.approx(value, rel=1e-5)
            assert 0.1 < value < 1


@pytest.mark.sweep
@pytest.mark.parametrize(
    "given",
    [
        {f"{TASK}.loss": "dice"},
        {f"{TASK}.model": "torchvision"},
        {f"{TASK}.model": "torchvision", f"{TASK}.backbone": "fcn_resnet50"},
    ],
    ids=str,
)
def test_a_users_folder_passes_the_tests_of_its_project(
    given: dict[str, Value], tmp_path: Path
) -> None:
    project = make_project(tmp_path, {**given, f"{TASK}.image_size": 32})
    assert count_passed(run_tests(project)) >= 30
