"""Object detection of a user's images, with boxes in the formats of COCO, YOLO and Pascal VOC."""

import csv
import json
import re
import shutil
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import pytest

from scaffold.answers.catalog import Value
from support.bad_files import refuse_paths
from support.detectors import (
    COCO,
    PRETRAINED,
    TASK,
    TRANSFORMERS,
    draw,
    make_pretrained,
    make_project,
    share_images,
)
from support.files import read_files
from support.rendering import render
from support.split import DRIVER, RING, assert_split_trains_alike
from support.training import (
    ask,
    assert_evaluated,
    count_passed,
    count_processes,
    read_rows,
    run,
    run_tests,
    said,
    tell,
)

pytestmark = pytest.mark.train

BRIEF = ["--epochs", "1", "--batch-size", "4"]
# the names of the classes, and the samples of each split, of several folders
READ = """
import json, sys
import data, train
for path in sys.argv[1:]:
    config = train.Config(path=path)
    describe = lambda image, o: [image.sum().item(), o["labels"].tolist(), o["boxes"].tolist()]
    splits = [[describe(*sample) for sample in part] for part in data.build_datasets(config)]
    print(json.dumps([data.class_names(config), splits]))
"""
SPLITS = {"train": 14, "val": 5, "test": 4}
NAMES = "names: {0: cup, 1: red ball}"


Files = dict[str, bytes]
Layout = Callable[[Files], Files]


def moved(*changes: tuple[str, str], more: Mapping[str, str] = {}) -> Layout:
    """Other places of files, by the first regular expression that fits, and files more."""

    def arrange(files: Files) -> Files:
        found = {}
        for name, content in files.items():
            old, new = next((pair for pair in changes if re.match(pair[0], name)), ("^", ""))
            found[re.sub(old, new, name, count=1)] = content
        return {**found, **{name: text.encode() for name, text in more.items()}}

    return arrange


def of_lists(files: Files) -> Files:
    """val2017.txt with a path in each line, as COCO for YOLO comes, and two folders."""
    rows = "path: more\ntrain: [../images/train2017, images]\nval: val2017.txt\ntest: test2017.txt"
    some = r"train/(images|labels)/0(0[89]|1\d)", r"more/\1/part/0\2"
    files = moved(some, OF_YEARS, more={"data.yaml": f"{NAMES}\n{rows}"})(files)
    assert len([name for name in files if name.startswith("more/images/part/")]) == 6
    for split in ("val", "test"):
        paths = [name for name in files if name.startswith(f"images/{split}2017/")]
        files[f"{split}2017.txt"] = "".join(f"./{path}\n" for path in paths).encode()
    return files


def voc_lists(files: Files, listed: Collection[str] = tuple(SPLITS)) -> Files:
    """One folder of images, and ImageSets/Main with a list for each split."""
    found: Files = {}
    for name, content in files.items():
        split, folder, file = name.split("/")
        named = content.replace(b"<filename>", f"<filename>{split}_".encode())
        found[f"{folder}/{split}_{file}"] = named
    for split in listed:
        stems = [Path(name).stem for name in found if name.startswith(f"Annotations/{split}_")]
        found[f"ImageSets/Main/{split}.txt"] = "".join(f"{stem}\n" for stem in stems).encode()
    return found


def spaced_names(files: Files) -> Files:
    """Names with spaces, behind some of which a list has a number, as those of one class."""
    spaced = moved((r"(JPEGImages|Annotations)/(\w+)", r"\1/\2 (1)"))(voc_lists(files))
    for name, content in spaced.items():
        spaced[name] = content.replace(b".png</filename>", b" (1).png</filename>")
        if name.startswith("ImageSets"):
            lines = enumerate(content.decode().splitlines())
            marked = [f"{line} (1){[' -1', '', ' 1'][n % 3]}\n" for n, line in lines]
            spaced[name] = "".join(marked).encode()
    return spaced


def bare_names(files: Files) -> Files:
    """<filename> without the suffix."""
    files = SIDE_BY_SIDE(files)
    return {n: x.replace(b".png</filename>", b"</filename>") for n, x in files.items()}


OF_YEARS = (r"(\w+)/(images|labels)/", r"\2/\g<1>2017/")
VALID = ("val/", "valid/")  # as Roboflow exports it
# each image beside its .xml file, as labelImg and Roboflow write them
SIDE_BY_SIDE = moved((r"(\w+)/\w+/", r"\1/"))
LAYOUTS: dict[str, list[Layout]] = {
    "coco": [
        moved(VALID),
        moved((r"(\w+)/annotations", r"annotations/\1"), (r"(\w+)/", r"images/\1/")),
        moved(  # as COCO comes
            (r"(\w+)/annotations", r"annotations/instances_\g<1>2017"),
            (r"(\w+)/", r"\g<1>2017/"),
            more={f"annotations/captions_{split}2017.json": "{}" for split in SPLITS},
        ),
    ],
    "yolo": [
        moved(VALID, more={"data.yaml": f"{NAMES}\ntrain: ../train/images\nval: ../valid/images"}),
        moved(  # as Ultralytics has them, and names that labelImg writes
            (r"(\w+)/(images|labels)/", r"\2/\1/"),
            more={f"labels/{split}/classes.txt": "cup\nred ball\n" for split in SPLITS},
        ),
        moved(
            OF_YEARS,
            more={"data.yaml": "\n".join([NAMES, *(f"{n}: images/{n}2017" for n in SPLITS)])},
        ),
        of_lists,
        # images/ has the training data, and within it images/val/ and images/test/
        moved((r"train/(images|labels)/", r"\1/"), (r"(\w+)/(images|labels)/", r"\2/\1/")),
    ],
    "voc": [
        moved(VALID),
        voc_lists,
        spaced_names,
        lambda files: voc_lists(files, ("val", "test")),  # the rest is training data
        SIDE_BY_SIDE,
        moved((r"(\w+)/JPEGImages", r"\1/images"), (r"(\w+)/Annotations", r"\1/annotations")),
        bare_names,
    ],
}


def test_all_formats_have_the_same_objects(tmp_path: Path) -> None:
    """Of the same images. Three quarters of them have objects."""
    found = []
    for kind in ("coco", "yolo", "voc"):
        names, splits = tell(make_project(tmp_path / kind, kind), READ, "things")
        assert names == ["cup", "red ball"]
        found.append([sample for split in splits for sample in split])
    assert len(found[0]) == 40 and sum(bool(labels) for _, labels, _ in found[0]) == 30
    for others in found[1:]:
        for sample, other in zip(found[0], others, strict=True):
            assert sample[:2] == other[:2]
            assert [pytest.approx(box, abs=1e-4) for box in sample[2]] == other[2]


def test_the_layouts_of_each_format_have_the_same_splits(tmp_path: Path) -> None:
    """Those of COCO, Ultralytics, Roboflow and Pascal VOC. Other files beside them are left out."""
    for kind, layouts in LAYOUTS.items():
        project = make_project(tmp_path / kind, kind, count=1)
        shutil.rmtree(project / "things")
        for name, count in SPLITS.items():
            draw(project, kind, f"things/{name}", count)
        files = read_files(project / "things")
        if kind != "yolo":
            del files["data.yaml"]
        for number, arrange in enumerate(layouts):
            for name, content in arrange(files).items():
                path = project / f"other{number}" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        folders = ["things", *(f"other{number}" for number in range(len(layouts)))]
        read = run(project, "-c", READ, *folders)
        lines = [line for line in read.splitlines() if line.startswith("[")]
        expected, *found = map(json.loads, lines)
        assert list(map(len, expected[1])) == [*SPLITS.values()]
        assert found == [expected] * len(layouts), kind


def test_a_users_images_train_and_a_wrong_row_is_named(tmp_path: Path) -> None:
    """On two processes. Nothing is trained then. predict.py prints the names of classes."""
    project = make_project(tmp_path, "coco")
    content = json.loads((project / "things/annotations.json").read_text())
    empty = content["annotations"][0] | {"bbox": [5, 5, 0, 4]}
    more = content | {"annotations": [*content["annotations"], empty]}
    (project / "things/annotations.json").write_text(json.dumps(more))
    trained = run(project, "train.py", *BRIEF, processes=2)
    assert "annotations.json: 1 object(s) without width or height left out" in trained
    asked = run(project, "predict.py", "things", "--threshold", "0.0", "--pictures", "drawn")
    rows = read_rows(asked)
    assert [row["image"] for row in rows] == [f"things/{number:03}.png" for number in range(40)]
    assert {one["label"] for row in rows for one in row["objects"]} == {"cup", "red ball"}
    assert len(list(project.glob("drawn/*.png"))) == 40
    asked = run(project, "predict.py", "things", "--threshold", "0.0", "--csv")
    objects = [
        [row["image"], one["label"], *map(str, [one["score"], *one["box"]])]
        for row in rows
        for one in row["objects"]
    ]
    assert list(csv.reader(asked.splitlines()))[1:] == objects
    assert asked.startswith("image,label,score,left,top,right,bottom\n")
    annotation = content["annotations"][4]
    faults = {
        ", images[0] has no 'file_name'": {"images": [{"id": 1}]},
        ", annotations[0]: the box 5, 5, 3, 9 is empty": {
            "annotations": [annotation | {"bbox": [5, 5, -2, 4]}]
        },
        ", categories[0] has no 'name'": {"categories": [{"id": 1}]},
        ": images, annotations and categories must be lists": {"categories": {}},
    }
    expected = {
        "none": "none is not a folder: set --path",
        "runs": "runs needs one .json file with the annotations for train, and has none.",
    }
    for number, (message, change) in enumerate(faults.items()):
        folder = share_images(project, "things", number)
        (folder / "annotations.json").write_text(json.dumps(content | change))
        expected[f"wrong/{number}"] = f"wrong/{number}/annotations.json{message}"
    refuse_paths(project, expected)


CROWDS = "[o['crowd'].tolist() for _, o in data.build_datasets(config)[0]]"


def test_difficult_objects_of_voc_are_crowds(tmp_path: Path) -> None:
    """Which its evaluation leaves out. An image that is missing is named."""
    project = make_project(tmp_path, "voc", count=12)
    assert not any(map(any, ask(project, "", CROWDS)))
    for path in (project / "things/Annotations").iterdir():
        hard = path.read_text().replace("</name>", "</name><difficult>1</difficult>", 1)
        path.write_text(hard)
    read = ask(project, "", CROWDS)
    assert [True, False] in read and all(row[:1] in ([], [True]) for row in read)
    assert sum(map(sum, read)) == sum(map(bool, read)), "the first of each image"
    (project / "things/JPEGImages/002.png").unlink()
    reason = "there is no image 002.png in things/JPEGImages."
    refuse_paths(project, {"things": f"things/Annotations/002.xml: {reason}"})


@pytest.mark.sweep
@pytest.mark.parametrize("model", ["small", "transformers"])
def test_metrics_are_those_of_the_coco_tools_on_any_processes(model: str, tmp_path: Path) -> None:
    """On 1, 2 and 3 processes, of a number of images that none of them divides, with crowds."""
    given = {"features.evaluate.enabled": True} | (TRANSFORMERS if model == "transformers" else {})
    project = make_project(tmp_path, "coco", given, count=200)
    if model == "transformers":
        run(project, "-c", PRETRAINED, "rt_detr")
    draw(project, "coco", "things/test", 37)
    (project / "things/train").mkdir()
    for path in [*project.glob("things/*.png"), project / "things/annotations.json"]:
        path.rename(project / "things/train" / path.name)
    # the small model of Transformers has random weights
    more = ["--learning-rate", "0.003"] if model == "transformers" else []
    run(project, "train.py", "--epochs", "6", "--batch-size", "4", *more)
    asked = run(project, "predict.py", "things/test", "--threshold", "0")
    expected = tell(project, COCO, "things/test/annotations.json", "bbox", stdin=asked)
    assert_evaluated(project, expected, abs=1e-6)
    assert model == "transformers" or all(0.05 < value < 1 for value in expected.values())
    assert max(expected.values()) > 0.001


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["coco", "yolo", "voc"])
def test_a_users_images_pass_the_tests_of_their_project(kind: str, tmp_path: Path) -> None:
    assert count_passed(run_tests(make_project(tmp_path, kind))) >= 28


KINDS = ["detr", "conditional", "dab", "table", "deformable", "rt_detr", "rt_detr_v2", "d_fine"]
KINDS += ["yolos"]


def test_pretrained_detectors_need_scipy() -> None:
    assert "scipy" not in render({"project.task": TASK})["pyproject.toml"]
    assert "scipy" in render({"project.task": TASK, **TRANSFORMERS})["pyproject.toml"]


@pytest.mark.sweep
@pytest.mark.parametrize("kind", KINDS)
def test_a_pretrained_detector_is_fine_tuned(kind: str, tmp_path: Path) -> None:
    """On 1 and 2 processes, with batches in which no image has an object. It predicts."""
    project = make_pretrained(tmp_path, kind)
    for processes in (1, 2):
        run(project, "train.py", "--epochs", "1", "--batch-size", "2", processes=processes)
    rows = read_rows(run(project, "predict.py", "things", "--threshold", "0"))
    assert len(rows) == 40 and all(row["objects"] for row in rows)
    [message] = said(project, "train.py", ["--pretrained-name", "nothing", "--output-dir", "other"])
    assert message.startswith("The model 'nothing' can't be loaded: ")
    config = json.loads((project / "small/config.json").read_text())
    (project / "small/config.json").write_text(json.dumps(config | {"model_type": "lw_detr"}))
    [message] = said(project, "train.py", ["--output-dir", "other"])
    assert "it is a lw_detr, not one of conditional_detr, d_fine, dab-detr" in message


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["small", "detr", "rt_detr", "yolos"])
def test_a_detector_trains_and_resumes_with_deepspeed(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("deepspeed", reason="DeepSpeed is not installed")
    given: dict[str, Value] = {"hardware.sharding": "deepspeed", "hardware.num_processes": 2}
    given |= {"hardware.distributed_type": "MULTI_GPU"}
    make = make_project if kind == "small" else make_pretrained
    project = make(tmp_path, "coco" if kind == "small" else kind, given)
    for driver in (DRIVER, RING):
        shutil.copy(driver, project)
    flags = ["--batch-size", "4", "--limit-batches", "3", "--epochs"]
    for more in (["1"], ["2", "--resume"]):
        trained = run(project, DRIVER.name, *flags, *more, processes=2)
        assert count_processes(trained) == 2 and "DeepSpeed on" in trained


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["detr", "rt_detr", "yolos"])
def test_a_pretrained_detector_passes_the_tests_of_its_project(kind: str, tmp_path: Path) -> None:
    """Also that 2 processes train like one, by whose number Transformers divides losses twice."""
    assert count_passed(run_tests(make_pretrained(tmp_path, kind))) >= 28


ADAPTERS: dict[str, Value] = {
    "features.lora.enabled": True,
    "features.attention.enabled": True,
    "features.attention.implementation": "eager",
    "features.evaluate.enabled": True,
}


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["detr", "conditional", "table", "rt_detr", "yolos"])
def test_a_pretrained_detector_is_trained_with_adapters(kind: str, tmp_path: Path) -> None:
    """On 1 and 2 processes, merged, resumed, evaluated; and its attention is chosen."""
    project = make_pretrained(tmp_path, kind, ADAPTERS)
    run(project, "train.py", "--epochs", "1", "--batch-size", "4", processes=2)
    assert (project / "runs/latest/adapter/preprocessor_config.json").exists()
    assert count_passed(run_tests(project)) >= 31


@pytest.mark.sweep
@pytest.mark.parametrize("kind, name", [("dab", "dab-detr"), ("deformable", "deformable_detr")])
def test_a_detector_whose_layers_share_weights_takes_no_adapters(
    kind: str, name: str, tmp_path: Path
) -> None:
    project = make_pretrained(tmp_path, kind, {"features.lora.enabled": True})
    [message] = said(project, "train.py", ["--output-dir", "other"])
    assert message == f"Layers of {name} share weights, so it can't have adapters: turn lora off."


SPLIT: dict[str, Value] = {
    "hardware.sharding": "fsdp",
    "hardware.num_processes": 2,
    "features.sync_batch_norm.enabled": True,
    "features.channels_last.enabled": False,
}


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["detr", "rt_detr"])
def test_a_split_detector_trains_like_a_whole_one(kind: str, tmp_path: Path) -> None:
    """With FSDP 2, on two processes. SyncBatchNorm, which the CPU lacks, has no effect here."""
    project = make_pretrained(tmp_path, kind, SPLIT)
    assert_split_trains_alike(project, "--epochs", "1", "--batch-size", "4")


# the loss of Transformers for an image alone, and ours for images of a batch
LOSSES = """
import torch
from transformers.loss.loss_for_object_detection import ImageLoss
from transformers.loss.loss_rt_detr import RTDetrLoss
theirs = ImageLoss.forward, RTDetrLoss.forward
import train
from data import build_datasets, collate
from model import build_model, to_labels
config = train.Config()
model, samples = build_model(config), [build_datasets(config)[0][row] for row in range(8)]
_, losses = model(*collate(samples))
ImageLoss.forward, RTDetrLoss.forward = theirs
for sample, loss in zip(samples, losses, strict=True):
    images, targets = collate([sample])
    labels = [to_labels(targets[0], config.image_size)]
    alone = model.model((images - model.mean) / model.std, labels=labels).loss
    torch.testing.assert_close(loss, alone, rtol=1e-4, atol=1e-4)
print("equal")
"""


@pytest.mark.sweep
@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_of_an_image_is_that_of_transformers(kind: str, tmp_path: Path) -> None:
    assert run(make_pretrained(tmp_path, kind), "-c", LOSSES).splitlines()[-1:] == ["equal"]
