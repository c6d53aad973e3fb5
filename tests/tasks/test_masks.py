"""Instance masks of object detection: a user's polygons and run lengths, and COCO's metrics."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from scaffold.answers.catalog import Value
from support.bad_files import refuse_paths
from support.detectors import COCO, TASK, draw, make_project, share_images
from support.files import write_files
from support.rendering import render
from support.training import ask, assert_evaluated, count_passed, read_rows, run, run_tests, tell

pytestmark = pytest.mark.train

MASKS: Mapping[str, Value] = {"project.task": TASK, f"{TASK}.find": "masks"}
BRIEF = ["--epochs", "1", "--batch-size", "4"]
# what data.py reads, beside what pycocotools reads of the same objects, if they have a file
READ = """
import torch
true = {}
if pathlib.Path(config.path, "annotations.json").exists():
    from pycocotools.coco import COCO
    coco = COCO(f"{config.path}/annotations.json")
    for row in coco.dataset["images"]:
        masks = [torch.from_numpy(coco.annToMask(one)).bool() for one in coco.imgToAnns[row["id"]]]
        true[row["file_name"]] = masks
rows, same = data.read_part(config, "train"), 0
images, found = data.BoxedImages(rows, data.class_names(config), config.image_size), []
for row, (_, objects) in zip(rows, images, strict=False):
    found.append(objects["masks"].nonzero().tolist())
    if true:
        pairs = zip(objects["masks"], true[row.image.name], strict=True)
        same += sum(torch.equal(*pair) for pair in pairs)
"""


def test_all_forms_have_the_same_masks_as_pycocotools_reads(tmp_path: Path) -> None:
    """Polygons, run lengths as numbers and as a text, and polygons from 0 to 1."""
    kinds = ("coco", "polygons")
    projects = [make_project(tmp_path / kind, kind, MASKS, size=64) for kind in kinds]
    (rows, same), (others, _) = (ask(project, READ, "[found, same]") for project in projects)
    assert same == 60 and len(rows) == 40
    assert rows == others
    assert sum(map(bool, rows)) == 30


def test_a_users_masks_train_and_a_wrong_one_is_named(tmp_path: Path) -> None:
    """Nothing is trained then. Predicted masks have the size of their images."""
    project = make_project(tmp_path, "coco", MASKS)
    run(project, "train.py", *BRIEF)
    asked = run(project, "predict.py", "things", "--threshold", "0.0", "--pictures", "drawn")
    rows = read_rows(asked)
    sizes = [tuple(one["mask"]["size"]) for row in rows[:6] for one in row["objects"]]
    assert {*sizes} == {(40 + number % 5, 60 - number % 3) for number in range(6)}
    assert len(list(project.glob("drawn/*.png"))) == 40
    place = project / "things/annotations.json"
    content = json.loads(place.read_text())
    image, annotation = content["images"][1], content["annotations"][0]
    size = {"size": [image["height"], image["width"]]}
    pixels = image["height"] * image["width"]
    faults = {
        " has no 'segmentation'.": None,
        ", segmentation is empty: it has no mask.": [],
        ", segmentation: [1, 2, 3, 4] is not x and y of three": [[1, 2, 3, 4]],
        ", segmentation: [1, 2, 'x', 4, 5, 6] is not x and y": [[1, 2, "x", 4, 5, 6]],
        ", segmentation: the point 99, 2 of the mask is not within ": [[99, 2, 3, 4, 5, 6]],
        ", segmentation has no 'counts'.": size,
        ", segmentation has the size [59, 41]. wrong/6/images/001.png has [41, 59].": {
            "size": [59, 41],
            "counts": [5, pixels - 5],
        },
        ", segmentation: the counts are not those of a mask of 59 x 41 pixels.": {
            **size,
            "counts": [5, pixels - 6],
        },
        ", segmentation: the counts are not": {**size, "counts": "no runs"},
    }
    expected = {}
    for number, (message, shape) in enumerate(faults.items()):
        row = {key: value for key, value in annotation.items() if key != "segmentation"}
        row |= {} if shape is None else {"segmentation": shape}
        wrong = {**content, "annotations": [row, *content["annotations"][1:]]}
        folder = share_images(project, "things", number)
        (folder / "annotations.json").write_text(json.dumps(wrong))
        expected[f"wrong/{number}"] = f"wrong/{number}/annotations.json, annotations[0]{message}"
    refuse_paths(project, expected)


def test_a_wrong_polygon_of_yolo_is_named(tmp_path: Path) -> None:
    project = make_project(tmp_path, "polygons", MASKS)
    right = (project / "things/labels/002.txt").read_text()
    faults = {
        "0 0.5 0.5 0.1 0.1": " is a box. Masks need x and y of three points or more.",
        "0 0.5 0.5 0.1 0.1 0.2": " needs x and y of three points or more, from 0 to 1.",
        "0 0.5 0.5 nan 0.1 0.2 0.2": " needs x and y of three points or more, from 0 to 1.",
        "0 0.5 0.5 1.05 0.1 0.2 0.2": ": the box 11.6, 4.2, 60.9, 21 is not within",
        "2 0.5 0.5 0.1 0.1 0.2 0.2": " has the class 2. data.yaml has 2 names.",
        "cup 0.5 0.5": ": 'cup 0.5 0.5' is no class, and x and y of points from 0 to 1.",
    }
    expected = {}
    for number, (line, message) in enumerate(faults.items()):
        folder = share_images(project, "things/images", number)
        (folder / "data.yaml").write_text("names: {0: cup, 1: red ball}")
        (folder / "labels").mkdir()
        (folder / "labels/002.txt").write_text(f"{right}{line}")
        expected[f"wrong/{number}"] = f"wrong/{number}/labels/002.txt, line 3{message}"
    refuse_paths(project, expected)


@pytest.mark.sweep
def test_metrics_are_those_of_the_coco_tools_on_any_processes(tmp_path: Path) -> None:
    """On 1, 2 and 3 processes, of a number of images that none of them divides, with crowds."""
    given = {**MASKS, "features.evaluate.enabled": True}
    project = make_project(tmp_path, "coco", given, size=64)
    for name, count in (("train", 200), ("val", 11), ("test", 37)):
        draw(project, "coco", f"things/{name}", count, size=64)
    run(project, "train.py", "--epochs", "8", "--batch-size", "4")
    asked = run(project, "predict.py", "things/test", "--threshold", "0")
    true = "things/test/annotations.json"
    expected = tell(project, COCO, true, "bbox", "segm", stdin=asked)
    assert len(expected) == 6 and all(0.05 < value < 1 for value in expected.values())
    assert_evaluated(project, expected, abs=1e-6)


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["shapes", "coco", "polygons"])
def test_projects_with_masks_pass_their_tests(kind: str, tmp_path: Path) -> None:
    if kind == "shapes":
        write_files(tmp_path, render(MASKS))
    else:
        make_project(tmp_path, kind, MASKS, size=64)
    assert count_passed(run_tests(tmp_path)) >= 28
