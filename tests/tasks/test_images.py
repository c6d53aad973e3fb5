"""Images from a folder: classes beside the weights, workers that decode, changes of torchvision."""

import json
from pathlib import Path

import pytest

from scaffold.answers.catalog import Value
from scaffold.answers.manifests import load_catalog
from support.files import write_files
from support.inputs import paint
from support.rendering import render, write_project
from support.training import ask, count_passed, fail, run, run_tests, train_in_parts

pytestmark = pytest.mark.train


FOLDER = {"image_classification.dataset": "image_folder", "image_classification.image_size": 16}


def test_classes_are_saved_and_resumed(tmp_path: Path) -> None:
    """By default, workers decode the images."""
    paint(tmp_path / "images", ["blue", "red"], 40)
    folder = write_files(tmp_path, render(FOLDER))
    assert "num_workers: int = 4 " in (folder / "config.py").read_text()
    train = ["train.py", "--batch-size", "8", "--num-workers", "1", "--epochs"]
    run(folder, *train, "1")
    saved = folder / "runs/latest/classes.json"
    assert json.loads(saved.read_text()) == ["blue", "red"]
    (tmp_path / "images/red").rename(tmp_path / "images/violet")
    assert "not ['blue', 'violet']" in fail(folder, *train, "2", "--resume")
    assert json.loads(saved.read_text()) == ["blue", "red"]
    (tmp_path / "images/violet").rename(tmp_path / "images/red")
    run(folder, *train, "2", "--resume")


@pytest.mark.parametrize("kind", ["photo", "randaugment"])
def test_photos_are_changed_the_same_after_a_resume(kind: str, tmp_path: Path) -> None:
    """And with any number of workers. So are images that grow over the epochs."""
    paint(tmp_path / "images", ["blue", "green", "red"], 20)
    changes = {"features.augmentation.enabled": True, "features.augmentation.kind": kind}
    changes["features.progressive_resizing.enabled"] = True
    changes["features.schedule.enabled"] = False  # it would depend on max_steps
    folder = write_files(tmp_path, render({**FOLDER, **changes}))
    train = ["--epochs", "2", "--batch-size", "8", "--num-workers"]
    whole = train_in_parts(folder, "whole", [*train, "0"])
    stopped, resumed = ["1", "--max-steps", "8"], ["2", "--max-steps", "0", "--resume"]
    assert train_in_parts(folder, "resumed", [*train, *stopped], [*train, *resumed]) == whole


# a ramp from black at the left to white at the right, as images of any kind
ODD = """
import numpy as np
from pathlib import Path
from PIL import Image
ramp = np.linspace(0, 255, 40).astype(np.uint8)[None].repeat(30, 0)
grey, deep = Image.fromarray(ramp), Image.fromarray(257 * ramp.astype(np.uint16))
turned = Image.Exif()
turned[0x112] = 3  # Orientation: upside down
motorola = (257 * ramp.astype(">u2")).astype(">u2").tobytes()  # as ImageJ writes it
kinds = {
    "motorola.tif": Image.frombytes("I;16B", (40, 30), motorola),
    "grey.png": grey, "grey.jpg": grey, "la.png": grey.convert("LA"), "p.png": grey.convert("P"),
    "rgba.png": grey.convert("RGBA"), "cmyk.jpg": grey.convert("CMYK"), "deep.png": deep,
    "deep.tif": deep, "turned.jpg": grey.transpose(Image.Transpose.ROTATE_180),
    "rgb.webp": grey.convert("RGB"), "CAPITALS.PNG": grey, "large.jpg": grey.resize((400, 300)),
}
for label in ("odd", "plain"):
    Path("images/train", label).mkdir(parents=True)
for name, picture in kinds.items():
    more = {"exif": turned} if name == "turned.jpg" else {}
    picture.save(Path("images/train/odd", name), **more)
for number in range(12):
    grey.save(f"images/train/plain/{number}.png")
"""
READ = """
rows = {}
for path in pathlib.Path("images/train/odd").iterdir():
    square = data.read_image(path, lambda image: data.to_square(image, 8))
    rows[path.name] = square[:, 4].float().tolist()
"""


def test_pictures_of_any_kind_show_the_same(tmp_path: Path) -> None:
    """Grey, with transparency or a palette, for print, with 16 bits, upside down."""
    folder = write_files(tmp_path, render(FOLDER))
    run(folder, "-c", ODD)
    rows = ask(folder, READ, "rows")
    assert len(rows) == 13
    for name, channels in rows.items():
        for row in channels:
            assert row == pytest.approx(rows["grey.png"][0], abs=4), name
    assert rows["grey.png"][0][0] < 50 and rows["grey.png"][0][-1] > 200


WRONG = """
import shutil
from PIL import Image
for name in ("cut", "large"):
    shutil.copytree("images", name)
Image.effect_noise((200, 200), 90).save("whole.jpg")
with open("whole.jpg", "rb") as file, open("cut/train/odd/grey.jpg", "wb") as cut:
    cut.write(file.read(9000))
Image.new("1", (15000, 15000)).save("large/train/odd/grey.png")
"""


@pytest.mark.every_run
def test_a_wrong_image_is_named_in_one_line(tmp_path: Path) -> None:
    """Also if a worker reads it."""
    folder = write_files(tmp_path, render(FOLDER))
    run(folder, "-c", ODD + WRONG)
    expected = {
        "cut": "cut/train/odd/grey.jpg can't be read as an image: image file is truncated",
        "large": "large/train/odd/grey.png can't be read as an image: Image size (225000000 pix",
    }
    for name, message in expected.items():
        workers = "1" if name == "cut" else "0"
        arguments = ["--path", name, "--output-dir", f"runs/{name}", "--num-workers", workers]
        result = fail(folder, "train.py", "--epochs", "1", "--batch-size", "4", *arguments)
        assert result.splitlines()[-1].startswith(message)


@pytest.mark.parametrize("task", ["image_classification", "autoencoder", "self_supervised"])
def test_valid_is_a_class_or_a_folder_like_others_without_train(task: str, tmp_path: Path) -> None:
    folder = write_project(tmp_path, task, dataset="image_folder", image_size=16, path="images")
    paint(folder / "images", ["invalid", "valid"], 20)
    assert sum(ask(folder, "", "list(map(len, data.build_datasets(config)))")) == 40


OF_FOLDERS = {"gan": 9, "image_classification": 3, "autoencoder": 9, "diffusion": 6}


@pytest.mark.sweep
@pytest.mark.parametrize("task", OF_FOLDERS)
def test_the_project_tests_its_folder_of_images(task: str, tmp_path: Path) -> None:
    folder = write_project(tmp_path, task, dataset="image_folder")
    chosen = "folders or images_become or unreadable or the_size"
    passed = count_passed(run_tests(folder, "tests/test_features.py", "-k", chosen))
    assert passed >= OF_FOLDERS[task]


DRAWN: dict[str, dict[str, Value]] = {
    **{task.name: {} for task in load_catalog().tasks.values() if "result_pictures" in task.has},
    "self_supervised": {"self_supervised.method": "mae"},
}


@pytest.mark.sweep
@pytest.mark.parametrize("task", DRAWN)
def test_wandb_keeps_the_pictures(task: str, tmp_path: Path) -> None:
    """Those that a run writes, pixel by pixel. That TensorBoard does is a test of each project."""
    from PIL import Image, ImageChops

    tracker = {"features.tracker.enabled": True, "features.tracker.kind": "wandb"}
    folder = write_files(tmp_path, render({"project.task": task, **DRAWN[task], **tracker}))
    train = ["train.py", "--epochs", "2", "--limit-batches", "2"]
    run(folder, *train, timeout=600, real=True)  # W&B waits forever in a fork
    written = sorted((folder / "runs/latest").glob("*_????????.png"))
    kept = sorted(folder.rglob("offline-run-*/files/media/images/*.png"), key=step_of)
    assert len(written) == len(kept) == 2
    for one, other in zip(written, kept, strict=True):
        assert other.name.startswith(one.stem.rsplit("_", 1)[0])
        with Image.open(one) as drawn, Image.open(other) as sent:
            gap = ImageChops.difference(drawn.convert("RGB"), sent.convert("RGB"))
            assert gap.getbbox() is None


def step_of(path: Path) -> int:
    """The step before that of a picture, in its name at W&B: KEY_STEP_DIGEST.png."""
    return int(path.stem.rsplit("_", 2)[1])
