"""Object detection of a user's images, with boxes in the formats of COCO, YOLO and Pascal VOC."""

import csv
import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from conftest import render, write_files
from training import count_passed, count_processes, run_python, run_tests, said, start

from scaffold.answers.catalog import Value

pytestmark = pytest.mark.train

TASK = "object_detection"
BRIEF = ["--epochs", "1", "--batch-size", "4"]
# images of several sizes with up to three objects in each of the formats
DRAW = """
import json
import sys
import numpy as np
from pathlib import Path
from PIL import Image, ImageDraw
kind, folder, count = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
draw, names = np.random.default_rng(count), ["cup", "red ball"]
folders = {"coco": ["."], "yolo": ["images", "labels"], "voc": ["JPEGImages", "Annotations"]}
for name in folders[kind]:
    (folder / name).mkdir(parents=True, exist_ok=True)
Path("things/data.yaml").write_text("names: {0: cup, 1: red ball}")
images, annotations = [], []
for number in range(count):
    width, height = 60 - number % 3, 40 + number % 5
    image = Image.fromarray(draw.integers(0, 60, (height, width, 3), dtype=np.uint8))
    boxes = []
    for _ in range(number % 4):
        left, top = int(draw.integers(0, width - 20)), int(draw.integers(0, height - 20))
        right, bottom = left + int(draw.integers(8, 20)), top + int(draw.integers(8, 20))
        label = int(draw.integers(2))
        color = (250, 250 * (1 - label), 0)
        ImageDraw.Draw(image).rectangle([left, top, right - 1, bottom - 1], fill=color)
        boxes.append((left, top, right, bottom, label))
    file = f"{number:03}.png"
    if kind == "coco":
        image.save(folder / file)
        images.append({"id": 7 * number, "file_name": file, "width": width, "height": height})
        for left, top, right, bottom, label in boxes:
            row = {"id": len(annotations) + 1, "image_id": 7 * number, "area": 1}
            row |= {"category_id": 3 + 6 * label, "iscrowd": int(number % 7 == 3)}
            annotations.append({**row, "bbox": [left, top, right - left, bottom - top]})
    elif kind == "yolo":
        image.save(folder / "images" / file)
        lines = [
            f"{label} {(left + right) / 2 / width} {(top + bottom) / 2 / height} "
            f"{(right - left) / width} {(bottom - top) / height}"
            for left, top, right, bottom, label in boxes
        ]
        if lines:
            (folder / "labels" / f"{number:03}.txt").write_text("\\n".join(lines) + "\\n")
    else:
        image.save(folder / "JPEGImages" / file)
        rows = "".join(
            f"<object><name>{names[label]}</name><bndbox><xmin>{left + 1}</xmin><ymin>{top + 1}"
            f"</ymin><xmax>{right}</xmax><ymax>{bottom}</ymax></bndbox></object>"
            for left, top, right, bottom, label in boxes
        )
        text = f"<annotation><filename>{file}</filename>{rows}</annotation>"
        (folder / "Annotations" / f"{number:03}.xml").write_text(text)
if kind == "coco":
    categories = [{"id": 9, "name": "red ball"}, {"id": 3, "name": "cup"}]
    content = {"images": images, "annotations": annotations, "categories": categories}
    (folder / "annotations.json").write_text(json.dumps(content))
"""
READ = """
import json
import data, train
sets = data.build_datasets(train.Config())
size = train.Config().image_size
def describe(sample):
    image, objects = sample
    boxes = (objects["boxes"] / size).tolist()
    return [sorted(zip(objects["labels"].tolist(), boxes)), image.sum().item()]
print(json.dumps([data.class_names(train.Config()), [describe(s) for part in sets for s in part]]))
"""


def make_project(folder: Path, kind: str, given: Mapping[str, Value] = {}, count: int = 40) -> Path:
    """A project for images of a folder, and the folder."""
    files: dict[str, Value] = {
        f"{TASK}.dataset": kind,
        f"{TASK}.path": "things",
        f"{TASK}.image_size": 64,
        "training.num_workers": 0,
    }
    write_files(folder, render({"project.task": TASK, **files, **given}))
    draw(folder, kind, "things", count)
    return folder


def draw(folder: Path, kind: str, target: str, count: int) -> None:
    (folder / "things").mkdir(exist_ok=True)
    drawn = run_python(folder, ["-c", DRAW, kind, target, str(count)])
    assert drawn.returncode == 0, drawn.stderr


def test_all_formats_have_the_same_objects(tmp_path: Path) -> None:
    """Of the same images. Three quarters of them have objects."""
    found = []
    for kind in ("coco", "yolo", "voc"):
        project = make_project(tmp_path / kind, kind)
        read = run_python(project, ["-c", READ])
        assert read.returncode == 0, read.stderr
        found.append(json.loads(read.stdout.splitlines()[-1]))
    names, samples = found[0]
    assert names == ["cup", "red ball"] and len(samples) == 40
    assert sum(bool(objects) for objects, _ in samples) == 30
    for other_names, others in found[1:]:
        assert other_names == names
        for (objects, pixels), (other_objects, other_pixels) in zip(samples, others, strict=True):
            assert pixels == other_pixels
            for (label, box), (other_label, other) in zip(objects, other_objects, strict=True):
                assert label == other_label and box == pytest.approx(other, abs=1e-6)


def test_a_users_images_train_and_a_wrong_row_is_named(tmp_path: Path) -> None:
    """Nothing is trained then. The names of classes are in what predict.py prints."""
    project = make_project(tmp_path, "coco")
    trained = start(project, ["train.py", *BRIEF], 1)
    assert trained.returncode == 0, trained.stderr
    command = ["predict.py", "things", "--threshold", "0.0", "--pictures", "drawn"]
    asked = run_python(project, command)
    assert asked.returncode == 0, asked.stderr
    rows = list(map(json.loads, asked.stdout.splitlines()))
    assert [row["image"] for row in rows] == [f"things/{number:03}.png" for number in range(40)]
    assert {one["label"] for row in rows for one in row["objects"]} == {"cup", "red ball"}
    assert len(list(project.glob("drawn/*.png"))) == 40
    asked = run_python(project, ["predict.py", "things", "--threshold", "0.0", "--csv"])
    assert asked.returncode == 0, asked.stderr
    objects = [
        [row["image"], one["label"], *map(str, [one["score"], *one["box"]])]
        for row in rows
        for one in row["objects"]
    ]
    assert list(csv.reader(asked.stdout.splitlines()))[1:] == objects
    assert asked.stdout.startswith("image,label,score,left,top,right,bottom\n")
    content = json.loads((project / "things/annotations.json").read_text())
    image, annotation = content["images"][0], content["annotations"][4]
    faults = {
        "images[0]: there is no lost.png": {"images": [image | {"file_name": "lost.png"}]},
        "images[0]: things/000.png has (60, 40) pixels": {"images": [image | {"width": 61}]},
        "images[0] has no 'file_name'": {"images": [{"id": 1}]},
        "annotations[0]: there is no category 4": {
            "annotations": [annotation | {"category_id": 4}]
        },
        "annotations[0]: there is no image 1.": {"annotations": [annotation | {"image_id": 1}]},
        "annotations[0]: bbox is [1, 2], not": {"annotations": [annotation | {"bbox": [1, 2]}]},
        "annotations[0]: the box 5, 5, 5, 9 is empty": {
            "annotations": [annotation | {"bbox": [5, 5, 0, 4]}]
        },
        "annotations[0]: the box 50, 5, 70, 9 is not within": {
            "annotations": [annotation | {"bbox": [50, 5, 20, 4]}]
        },
        "categories[0] has no 'name'": {"categories": [{"id": 1}]},
        ": images, annotations and categories must be lists": {"categories": {}},
    }
    for message, change in faults.items():
        (project / "things/annotations.json").write_text(json.dumps(content | change))
        [found] = said(project, "train.py", ["--output-dir", "runs/other"])
        assert found.startswith(
            f"things/annotations.json{'' if message[0] == ':' else ', '}{message}"
        )
    (project / "things/annotations.json").write_text("{}")
    whole = (project / "things/000.png").read_bytes()
    (project / "things/000.png").write_text("")
    calls = [["--path", path, "--output-dir", "runs/other"] for path in ("things", "none", "runs")]
    found = said(project, "train.py", *calls)
    assert found[0].startswith("things/annotations.json is not a COCO file")
    assert found[1].startswith("none is not a folder: set --path")
    assert found[2].startswith("runs needs one .json file with the annotations, and has none")
    (project / "things/annotations.json").write_text(json.dumps(content))
    [message] = said(project, "train.py", ["--output-dir", "runs/other"])
    assert message.startswith("things/000.png can't be read as an image: ")
    assert not (project / "runs/other").exists()
    (project / "things/000.png").write_bytes(whole[: len(whole) // 2])  # cut off
    [message] = said(project, "train.py", [*BRIEF, "--output-dir", "runs/other"])
    assert message.startswith("things/000.png can't be read as an image: ")


def test_a_wrong_line_of_yolo_is_named(tmp_path: Path) -> None:
    project = make_project(tmp_path, "yolo", count=12)
    place = project / "things/labels/002.txt"
    right = place.read_text()
    faults = {
        "0 0.5 0.5 0.1\n": "line 3: '0 0.5 0.5 0.1' is not a class, x, y, width and height",
        "2 0.5 0.5 0.1 0.1": "line 3 has the class 2. data.yaml has 2 names.",
        "0 0.9 0.5 0.4 0.1": "line 3: the box 40.6, 18.9, 63.8, 23.1 is not within",
        "0 0.5 0.5 0 0.1": "line 3: the box 29, ",
    }
    for line, message in faults.items():
        place.write_text(right + line)
        [found] = said(project, "train.py", ["--output-dir", "runs/other"])
        assert found.startswith(f"things/labels/002.txt, {message}")
    place.write_text(right)
    (project / "things/labels/x.txt").write_text("")
    lost = "things/labels/x.txt has no image in things/images."
    assert said(project, "train.py", ["--output-dir", "runs/other"]) == [lost]
    (project / "things/data.yaml").write_text("nc: 2")
    [message] = said(project, "train.py", ["--output-dir", "runs/other"])
    assert message.startswith("things/data.yaml has no names of classes")
    assert not (project / "runs/other").exists()


def test_a_wrong_object_of_voc_is_named(tmp_path: Path) -> None:
    project = make_project(tmp_path, "voc", count=12)
    place = project / "things/Annotations/002.xml"
    right = place.read_text()
    faults = {
        ("xmin>", "x>"): ", object 1 needs a bndbox with numbers",
        ("<xmax>", "<xmax>9"): ", object 1: the box ",
        ("</name><b", "</n><b"): " is not XML: ",
    }
    for change, message in faults.items():
        place.write_text(right.replace(*change))
        [found] = said(project, "train.py", ["--output-dir", "runs/other"])
        assert found.startswith(f"things/Annotations/002.xml{message}")
    place.write_text(re.sub("<name>.*?</name>", "", right))
    [found] = said(project, "train.py", ["--output-dir", "runs/other"])
    assert found == "things/Annotations/002.xml, object 1 has no name."
    place.write_text(right)
    (project / "things/JPEGImages/002.png").unlink()
    [found] = said(project, "train.py", ["--output-dir", "runs/other"])
    assert found.startswith("things/JPEGImages/002.png can't be read as an image: ")
    assert not (project / "runs/other").exists()


# what predict.py finds in the test images, and COCO's own evaluation of it
COCO = """
import contextlib, io, json, sys
from pathlib import Path
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval
rows = [json.loads(line) for line in sys.stdin]
with contextlib.redirect_stdout(io.StringIO()):
    true = COCO("things/test/annotations.json")
    images = {row["file_name"]: row["id"] for row in true.dataset["images"]}
    classes = {row["name"]: row["id"] for row in true.dataset["categories"]}
    found = []
    for row in rows:
        for one in row["objects"]:
            left, top, right, bottom = one["box"]
            box = [left, top, right - left, bottom - top]
            image = {"image_id": images[Path(row["image"]).name], "bbox": box}
            found.append({**image, "category_id": classes[one["label"]], "score": one["score"]})
    scores = COCOeval(true, true.loadRes(found), "bbox")
    scores.evaluate(), scores.accumulate(), scores.summarize()
print(json.dumps(dict(zip(("map", "map_50", "map_75"), scores.stats.tolist()))))
"""


@pytest.mark.sweep
def test_metrics_are_those_of_the_coco_tools_on_any_processes(tmp_path: Path) -> None:
    """On 1, 2 and 3 processes, of a number of images that none of them divides, with crowds."""
    project = make_project(tmp_path, "coco", {"features.evaluate.enabled": True}, count=200)
    draw(project, "coco", "things/test", 37)
    (project / "things/train").mkdir()
    for path in [*project.glob("things/*.png"), project / "things/annotations.json"]:
        path.rename(project / "things/train" / path.name)
    trained = start(project, ["train.py", "--epochs", "6", "--batch-size", "4"], 1)
    assert trained.returncode == 0, trained.stderr
    asked = run_python(project, ["predict.py", "things/test", "--threshold", "0"])
    assert asked.returncode == 0, asked.stderr
    result = run_python(project, ["-c", COCO], stdin=asked.stdout)
    assert result.returncode == 0, result.stderr
    expected = json.loads(result.stdout)
    for processes in (1, 2, 3):
        result = start(project, ["evaluate.py"], processes)
        assert result.returncode == 0, result.stderr
        report = json.loads((project / "runs/latest/evaluation/test/metrics.json").read_text())
        for name, value in expected.items():
            assert report[f"test_{name}"]["value"] == pytest.approx(value, abs=1e-6)
            assert 0.05 < value < 1


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["coco", "yolo", "voc"])
def test_a_users_images_pass_the_tests_of_their_project(kind: str, tmp_path: Path) -> None:
    assert count_passed(run_tests(make_project(tmp_path, kind))) >= 30


def test_two_processes_train_on_a_users_images(tmp_path: Path) -> None:
    project = make_project(tmp_path, "yolo")
    trained = start(project, ["train.py", *BRIEF], 2)
    assert trained.returncode == 0, trained.stderr
    assert count_processes(trained.stdout) == 2
