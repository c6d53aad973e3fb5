"""Object detection of a user's images, with boxes in the formats of COCO, YOLO and Pascal VOC."""

import csv
import json
import shutil
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from scaffold.answers.catalog import Value
from scaffold.errors import AnswerError
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
    start,
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


def valid_folder(source: Path, target: Path) -> None:
    """As Roboflow exports it."""
    shutil.copytree(source, target)
    (target / "val").rename(target / "valid")
    named = [
        f"{name}: ../{folder}/images" for name, folder in (("train", "train"), ("val", "valid"))
    ]
    if (target / "data.yaml").exists():
        text = (target / "data.yaml").read_text()
        (target / "data.yaml").write_text("\n".join([text, *named]))


def coco_folders(source: Path, target: Path) -> None:
    """annotations/instances_train2017.json, and train2017/ with the images."""
    (target / "annotations").mkdir(parents=True)
    for name in SPLITS:
        shutil.copytree(source / name, target / f"{name}2017")
        file = target / f"{name}2017" / "annotations.json"
        file.rename(target / "annotations" / f"instances_{name}2017.json")
        (target / "annotations" / f"captions_{name}2017.json").write_text("{}")


def short_names(source: Path, target: Path) -> None:
    """train.json, val.json and test.json in annotations/, and the images in images/train, ..."""
    (target / "annotations").mkdir(parents=True)
    for name in SPLITS:
        shutil.copytree(source / name, target / "images" / name)
        file = target / "images" / name / "annotations.json"
        file.rename(target / "annotations" / f"{name}.json")


def yolo_folders(source: Path, target: Path, year: str = "") -> None:
    """images/train and labels/train, as Ultralytics has them, and names that labelImg writes."""
    target.mkdir()
    shutil.copy(source / "data.yaml", target)
    for name in SPLITS:
        for kind in ("images", "labels"):
            shutil.copytree(source / name / kind, target / kind / f"{name}{year}")
        (target / "labels" / f"{name}{year}" / "classes.txt").write_text("cup\nred ball\n")


def named_folders(source: Path, target: Path) -> None:
    """images/train2017, as data.yaml says."""
    yolo_folders(source, target, "2017")
    with (target / "data.yaml").open("a") as file:
        file.write("".join(f"\n{name}: images/{name}2017" for name in SPLITS))


def named_lists(source: Path, target: Path) -> None:
    """train2017.txt with a path in each line, as COCO for YOLO comes, and two folders."""
    yolo_folders(source, target, "2017")
    more = target / "more" / "images"
    for name in ("val", "test"):
        paths = sorted((target / "images" / f"{name}2017").iterdir())
        lines = "".join(f"./{path.relative_to(target).as_posix()}\n" for path in paths)
        (target / f"{name}2017.txt").write_text(lines)
    for kind in ("images", "labels"):
        (target / "more" / kind / "part").mkdir(parents=True)
        for path in (target / kind / "train2017").iterdir():
            if path.stem > "007":
                path.rename(target / "more" / kind / "part" / path.name)
    with (target / "data.yaml").open("a") as file:
        file.write("\npath: more\ntrain: [../images/train2017, images]\n")
        file.write("val: val2017.txt\ntest: test2017.txt\n")
    assert len(list(more.rglob("*.png"))) == 6


def val_within(source: Path, target: Path) -> None:
    """images/ has the training data, and within it images/val/ and images/test/."""
    yolo_folders(source, target)
    for kind in ("images", "labels"):
        for path in (target / kind / "train").iterdir():
            path.rename(target / kind / path.name)
        (target / kind / "train").rmdir()


def voc_lists(source: Path, target: Path, listed: Collection[str] = tuple(SPLITS)) -> None:
    """One folder of images, and ImageSets/Main with a list for each split."""
    lists = target / "ImageSets" / "Main"
    for folder in (target / "JPEGImages", target / "Annotations", lists):
        folder.mkdir(parents=True)
    for name in SPLITS:
        files = sorted((source / name / "Annotations").glob("*.xml"))
        for file in files:
            text = file.read_text().replace("<filename>", f"<filename>{name}_")
            (target / "Annotations" / f"{name}_{file.name}").write_text(text)
        for file in (source / name / "JPEGImages").iterdir():
            shutil.copy(file, target / "JPEGImages" / f"{name}_{file.name}")
        if name in listed:
            (lists / f"{name}.txt").write_text("".join(f"{name}_{f.stem}\n" for f in files))


def spaced_names(source: Path, target: Path) -> None:
    """Names with spaces, behind some of which a list has a number, as those of one class."""
    voc_lists(source, target)
    for path in [*target.glob("JPEGImages/*"), *target.glob("Annotations/*")]:
        path = path.rename(path.with_stem(f"{path.stem} (1)"))
        if path.suffix == ".xml":
            text = path.read_text().replace(".png</filename>", " (1).png</filename>")
            path.write_text(text)
    for path in target.glob("ImageSets/Main/*.txt"):
        lines = enumerate(path.read_text().splitlines())
        path.write_text("".join(f"{line} (1){[' -1', '', ' 1'][n % 3]}\n" for n, line in lines))


def two_voc_lists(source: Path, target: Path) -> None:
    """The rest is training data."""
    voc_lists(source, target, ("val", "test"))


def side_by_side(source: Path, target: Path) -> None:
    """Each image beside its .xml file, as labelImg and Roboflow write them."""
    for name in SPLITS:
        for kind in ("JPEGImages", "Annotations"):
            shutil.copytree(source / name / kind, target / name, dirs_exist_ok=True)


def small_letters(source: Path, target: Path) -> None:
    for name in SPLITS:
        for kind, small in (("JPEGImages", "images"), ("Annotations", "annotations")):
            shutil.copytree(source / name / kind, target / name / small)


def bare_names(source: Path, target: Path) -> None:
    """<filename> without the suffix."""
    side_by_side(source, target)
    for path in target.rglob("*.xml"):
        path.write_text(path.read_text().replace(".png</filename>", "</filename>"))


LAYOUTS: dict[str, list[Callable[[Path, Path], None]]] = {
    "coco": [coco_folders, valid_folder, short_names],
    "yolo": [yolo_folders, valid_folder, named_folders, named_lists, val_within],
    "voc": [
        voc_lists,
        spaced_names,
        two_voc_lists,
        valid_folder,
        side_by_side,
        small_letters,
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
        for number, arrange in enumerate(layouts):
            arrange(project / "things", project / f"other{number}")
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


def test_pretrained_detectors_have_no_masks() -> None:
    with pytest.raises(AnswerError, match="it finds boxes alone: masks come from small or timm"):
        render({"project.task": TASK, **TRANSFORMERS, f"{TASK}.find": "masks"})
    assert "scipy" not in render({"project.task": TASK})["pyproject.toml"]
    assert "scipy" in render({"project.task": TASK, **TRANSFORMERS})["pyproject.toml"]


@pytest.mark.sweep
@pytest.mark.parametrize("kind", KINDS)
def test_a_pretrained_detector_is_fine_tuned(kind: str, tmp_path: Path) -> None:
    """On 1 and 2 processes, with batches in which no image has an object. It predicts."""
    project = make_pretrained(tmp_path, kind)
    for processes in (1, 2):
        run(project, "train.py", "--epochs", "1", "--batch-size", "2", processes=processes)
        shutil.rmtree(project / "runs")
    run(project, "train.py", *BRIEF)
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


def test_zero_3_is_refused_for_pretrained_detectors() -> None:
    """Transformers copies the statistics of batch norm while it builds them."""
    given = {"hardware.sharding": "deepspeed", "hardware.distributed_type": "MULTI_GPU"}
    given |= {"project.task": TASK, "deepspeed.zero_stage": 3}
    with pytest.raises(AnswerError, match="from split weights: use stage 2"):
        render({**given, **TRANSFORMERS})
    assert "accelerate.yaml" in render(given)


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["detr", "rt_detr", "yolos"])
def test_a_pretrained_detector_passes_the_tests_of_its_project(kind: str, tmp_path: Path) -> None:
    """Also that 2 processes train like one, and that a run resumes to the bit."""
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


# the loss of boxes of Transformers, for the same image on each process
TWICE = """
import torch
from accelerate import PartialState
from transformers.loss.loss_for_object_detection import HungarianMatcher, ImageLoss
state = PartialState(cpu=True)
torch.manual_seed(0)
boxes = torch.rand(1, 20, 4) / 4 + 0.3
targets = [{"class_labels": torch.tensor([0] * 6), "boxes": boxes[0, :6] + 0.01}]
criterion = ImageLoss(HungarianMatcher(), 1, 0.1, ["boxes"])
loss = criterion({"logits": torch.rand(1, 20, 2), "pred_boxes": boxes}, targets)["loss_giou"]
if state.is_main_process:
    print(float(loss))
"""


@pytest.mark.sweep
def test_transformers_divides_by_the_processes_twice(tmp_path: Path) -> None:
    """Its loss of the same objects doubles on 2 processes. If it does not, change loss.py."""
    (tmp_path / "twice.py").write_text(TWICE)
    one, two = (start(tmp_path, ["twice.py"], processes) for processes in (1, 2))
    assert one.returncode == two.returncode == 0, one.stderr + two.stderr
    assert float(two.stdout) == pytest.approx(2 * float(one.stdout))
