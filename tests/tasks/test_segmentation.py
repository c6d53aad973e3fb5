"""Semantic segmentation of a user's images and masks."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from scaffold.answers.catalog import Value
from support.bad_files import refuse_flags, refuse_paths
from support.combinations import in_turns
from support.detectors import draw
from support.files import replace_in
from support.rendering import of_task, render, write_project
from support.segmenters import PRETRAINED, SMALL, TASK, make_pretrained
from support.split import assert_split_trains_alike
from support.training import (
    ask,
    assert_evaluated,
    count_passed,
    read_rows,
    resume_everywhere,
    run,
    run_tests,
    said,
)

pytestmark = pytest.mark.train

FOLDER = of_task(TASK, dataset="folder", path="scans", classes=3, image_size=16)
FOLDER["training.num_workers"] = 0
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
from pathlib import Path
from PIL import Image
shutil.copytree("scans", "class")
Image.new("L", (30, 20), 7).save("class/masks/000.png")
shutil.copytree("scans", "twice")
shutil.copy("twice/masks/000.png", "twice/masks/000.tif")
shutil.copytree("scans", "one")
shutil.copytree("scans", "void/train")
shutil.copytree("scans", "void/val")
for folder, value in (("one", 2), ("void/val", 255)):
    for path in Path(folder, "masks").iterdir():
        Image.new("L", Image.open(path).size, value).save(path)
for name in ("images", "masks"):
    Path("empty/val", name).mkdir(parents=True)
    shutil.copytree(f"scans/{name}", f"empty/train/{name}")
"""


def make_project(folder: Path, given: Mapping[str, Value], count: int = 40) -> Path:
    """A project for images of a folder, and the folder."""
    write_project(folder, TASK, **{**FOLDER, **given})
    run(folder, "-c", DRAW, "scans", str(count))
    return folder


# how many masks are those of pycocotools, and how many have pixels of both classes
OBJECTS = """
import numpy as np
from pycocotools.coco import COCO
coco, same, both = COCO("things/annotations.json"), 0, 0
ids = {row["file_name"]: row["id"] for row in coco.dataset["images"]}
for row in data.read_part(data.find_part(config, "train"), config):
    classes = np.zeros((2, *row.size[::-1]), bool)
    for one in coco.imgToAnns[ids[row.image.name]]:
        classes[(3, 9).index(one["category_id"])] |= coco.annToMask(one) > 0
    void = classes.all(axis=0)
    expected = np.where(void, data.VOID, classes[0] + 2 * classes[1])
    same += bool((np.array(data.draw_mask(row)) == expected).all())
    both += bool(void.any())
"""
OF_COCO: dict[str, Value] = {f"{TASK}.dataset": "coco", f"{TASK}.path": "things"}


def test_objects_of_a_coco_file_are_masks(tmp_path: Path) -> None:
    """Polygons and run lengths. Pixels of two classes are void."""
    project = write_project(tmp_path, TASK, **{**FOLDER, **OF_COCO})
    draw(project, "coco", "things", 40)
    assert ask(project, OBJECTS, "[same, both]") == [40, 2]
    assert ask(project, "", "list(map(len, data.build_datasets(config)))") == [33, 4, 3]
    run(project, "train.py", *BRIEF, processes=2)


# the samples of each split of several folders: train/images and images/train, val and valid
SPLITS = """
import shutil
from pathlib import Path
for name, count in (("train", 14), ("val", 5), ("test", 4)):
    for kind in ("images", "masks"):
        for path in sorted(Path("scans", kind).iterdir())[:count]:
            for folder in (f"one/{name}/{kind}", f"other/{kind}/{name}"):
                Path(folder).mkdir(parents=True, exist_ok=True)
                shutil.copy(path, folder)
shutil.copytree("one", "third")
Path("third/val").rename("third/valid")
read = lambda path: [
    [[part.sum().item() for part in sample] for sample in split]
    for split in data.build_datasets(train.Config(path=path))
]
"""


def test_splits_in_images_are_those_of_folders_with_images(tmp_path: Path) -> None:
    project = make_project(tmp_path, {}, count=14)
    one, *others = ask(project, SPLITS, "list(map(read, ['one', 'other', 'third']))")
    assert list(map(len, one)) == [14, 5, 4]
    assert others == [one] * 2
    shutil.rmtree(project / "other/masks/val")
    [found] = said(project, "train.py", ["--path", "other"])
    assert found.startswith("other/masks/val is missing: masks/ has a mask for each image")


@pytest.mark.every_run
def test_a_users_folder_trains_and_a_wrong_mask_is_named(tmp_path: Path) -> None:
    """Nothing is trained then. Predicted masks have the size of their images."""
    project = make_project(tmp_path, {})
    run(project, "train.py", *BRIEF)
    rows = read_rows(run(project, "predict.py", "scans/images"))
    assert len(rows) == 40
    for row in rows:
        assert sum(float(row[f"class_{label}"]) for label in range(3)) == pytest.approx(1)
    sizes = f"[Image.open(path).size for path in {[rows[0]['mask'], rows[0]['image']]}]"
    assert ask(project, "from PIL import Image", sizes) == [[30, 20], [30, 20]]
    run(project, "-c", WRONG)
    expected = {
        "class": "class/masks/000.png has the class 7. Classes are from 0 to 2 (--classes)",
        "twice": "twice/masks/000.png and twice/masks/000.tif are masks of the same image.",
        "one": "one/masks has one class, 2: a model needs two to tell apart. 255 is ignored: if it",
        "void": "void/val/masks has no image with a class.",
        "empty": "empty/val/images has no images.",
        "nowhere": "nowhere is not a folder: set --path to one with images/ and masks/.",
        "runs": "runs/masks is missing: masks/ has a mask for each image in images/.",
    }
    refuse_paths(project, expected)


EXACT = """
import torch
from predict import load
from torchmetrics.classification import MulticlassAccuracy, MulticlassJaccardIndex
config, model = load()
settings = {"num_classes": config.classes, "ignore_index": data.VOID}
iou = MulticlassJaccardIndex(**settings, average="macro")
accuracy = MulticlassAccuracy(**settings, average="micro")
with torch.no_grad():
    for images, masks in data.build_loaders(config)[2]:
        for metric in (iou, accuracy):
            metric.update(model(images).argmax(dim=1), masks)
"""


@pytest.mark.sweep
@pytest.mark.parametrize("model", ["unet", "transformers"])
def test_metrics_are_those_of_torchmetrics_on_any_processes(model: str, tmp_path: Path) -> None:
    """On 1, 2 and 3 processes, of a number of images that none of them divides."""
    given: dict[str, Value] = {"features.evaluate.enabled": True}
    if model == "transformers":
        given |= {**PRETRAINED, f"{TASK}.image_size": 32, "training.learning_rate": 0.01}
    project = make_project(tmp_path, given)
    if model == "transformers":
        run(project, "-c", SMALL, "segformer")
    run(project, "-c", DRAW, "scans/test", "37")
    run(project, "train.py", "--epochs", "3", "--batch-size", "4")
    iou, accuracy = ask(project, EXACT, "[float(iou.compute()), float(accuracy.compute())]")
    assert 0.1 < iou < 1 and 0.1 < accuracy < 1
    expected = {"test_mean_iou": iou, "test_pixel_accuracy": accuracy}
    assert_evaluated(project, expected, rel=1e-5)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "given",
    [
        {f"{TASK}.loss": "dice"},
        OF_COCO,
        {f"{TASK}.model": "torchvision"},
        {f"{TASK}.model": "torchvision", f"{TASK}.backbone": "fcn_resnet50"},
    ],
    ids=str,
)
def test_a_users_folder_passes_the_tests_of_its_project(
    given: dict[str, Value], tmp_path: Path
) -> None:
    project = make_project(tmp_path, {**given, f"{TASK}.image_size": 32})
    if given.get(f"{TASK}.dataset") == "coco":
        draw(project, "coco", "things", 40)
    assert count_passed(run_tests(project)) >= 28


# the images and masks of a folder as rows of a dataset, and some with a wrong row
STORE = """
from pathlib import Path
import datasets
features = datasets.Features({name: datasets.Image() for name in ("photo", "annotation")})
whole = [
    {"photo": {"bytes": path.read_bytes()}, "annotation": {"bytes": mask.read_bytes()}}
    for path, mask in zip(*(sorted(Path("scans", n).iterdir()) for n in ("images", "masks")))
]
cut = whole[2]["photo"]["bytes"][:-200]
wrong = {
    "hub": {},
    "cut": {"photo": {"bytes": cut}},
    "other": {"annotation": {"bytes": b"no image"}},
    "none": {"photo": None},
    "size": {"annotation": whole[1]["annotation"]},
}
for name, change in wrong.items():
    rows = [dict(row) for row in whole]
    rows[2] |= change
    Path(name).mkdir()
    datasets.Dataset.from_list(rows, features=features).to_parquet(f"{name}/train.parquet")
"""


def test_a_dataset_of_the_hub_trains_and_a_wrong_row_is_named(tmp_path: Path) -> None:
    """Nothing is trained then."""
    given = {"dataset": "huggingface", "dataset_name": "hub", "classes": 3, "image_size": 16}
    given |= {"image_column": "photo", "mask_column": "annotation", "training.num_workers": 1}
    project = write_project(tmp_path, TASK, **given)
    for code in ([DRAW, "scans", "30"], [STORE]):
        run(project, "-c", *code)
    run(project, "train.py", *BRIEF)
    expected = {
        "cut": "cut, train, row 3, column photo can't be read as an image: ",
        "other": "other, train, row 3, column annotation can't be read as an image: ",
        "none": "none, train, row 3, column photo has no image.",
        "size": "size, train, row 3, column annotation does not have the size of size, train, row",
        "nowhere": "The dataset 'nowhere' can't be loaded: ",
    }
    wrong = {("--dataset-name", name): beginning for name, beginning in expected.items()}
    wrong["--mask-column", "label"] = (
        "hub has no column label with images: --mask-column names one of photo, annotation."
    )
    wrong["--classes", "2"] = (
        "hub, train, row 1, column annotation has the class 2. Classes are from 0 to 1 (--classes)"
    )
    refuse_flags(project, wrong)


KINDS = ["beit", "segformer", "encoder", "dpt", "mobilevit", "mobilenet", "upernet"]
# the same pixels as those of its image processor go into the model, and its logits come out larger
SAME = """
import runpy
import sys
import numpy as np
import torch
import torch.nn.functional as F
import train
from model import build_model
from PIL import Image
from transformers import AutoImageProcessor

model = build_model(train.Config()).eval()
image = np.random.default_rng(0).integers(0, 256, (32, 32, 3)).astype(np.uint8)
process = AutoImageProcessor.from_pretrained("small")
theirs = process(Image.fromarray(image), do_resize=False, do_center_crop=False, return_tensors="pt")
seen = []
model.model.register_forward_pre_hook(lambda _, given: seen.append(*given))
with torch.no_grad():
    expected = F.interpolate(model.model(theirs["pixel_values"]).logits, (32, 32), mode="bilinear")
    found = model(torch.from_numpy(image).permute(2, 0, 1)[None] / 255)
torch.testing.assert_close(found, expected)
torch.testing.assert_close(seen[-1], theirs["pixel_values"])
assert found.shape == (1, 4, 32, 32)
Image.new("RGB", (50, 40)).save("image.png")
sys.argv[1:] = ["image.png"]
runpy.run_path("predict.py", run_name="__main__")
print("the same")
print(Image.open("masks/00000_image.png").size)
"""


@pytest.mark.parametrize("kind", in_turns(KINDS, 99))
def test_a_pretrained_model_is_fine_tuned(kind: str, tmp_path: Path) -> None:
    """On 2 processes, so all trained weights get a gradient. Masks have the size of images."""
    project = make_pretrained(tmp_path, kind)
    brief = ["train.py", "--epochs", "1", "--limit-batches", "3", "--batch-size", "4"]
    run(project, *brief, processes=2)
    assert run(project, "-c", SAME).endswith("\nthe same\n(50, 40)\n")


@pytest.mark.sweep
def test_a_model_that_can_not_be_used_is_named(tmp_path: Path) -> None:
    project = make_pretrained(tmp_path, "segformer")
    name, size = said(project, "train.py", ["--pretrained-name", "nothing"], ["--image-size", "16"])
    assert name.startswith("The model 'nothing' can't be loaded: ")
    assert size.startswith("The model 'small' can't take images of 16 x 16 pixels: choose")


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("segformer", {}),
        ("encoder", {"features.lora.enabled": True}),
        ("dpt", {"features.lora.enabled": True}),
        ("mobilevit", {}),
    ],
    ids=str,
)
def test_a_pretrained_model_resumes(kind: str, given: dict[str, Value], tmp_path: Path) -> None:
    """Bit for bit, from each step, on two processes, with the statistics of its BatchNorm."""
    make_pretrained(tmp_path, kind)
    small = {f"{TASK}.pretrained_name": str(tmp_path / "small")}
    files = render({"project.task": TASK, **PRETRAINED, **small, **given})
    settings: dict[str, Value] = {"epochs": 2, "limit_batches": 3, "batch_size": 4}
    assert resume_everywhere(files, 2, tmp_path, checkpoint_every=1, **settings) >= 4


USED: dict[str, Value] = {
    f"features.{name}.enabled": True for name in ("evaluate", "export", "share")
}


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("segformer", {**USED, "features.channels_last.enabled": True}),
        ("encoder", {**USED, f"{TASK}.loss": "dice"}),
        ("segformer", {**USED, "features.lora.enabled": True}),
        ("mobilevit", {**USED, "features.lora.enabled": True}),
        ("beit", {"features.attention.enabled": True, "features.ema.enabled": True}),
        ("upernet", {}),
    ],
    ids=str,
)
def test_a_pretrained_model_passes_the_tests_of_its_project(
    kind: str, given: dict[str, Value], tmp_path: Path
) -> None:
    assert count_passed(run_tests(make_pretrained(tmp_path, kind, given))) >= 28


@pytest.mark.sweep
def test_a_model_without_linear_layers_takes_no_adapters(tmp_path: Path) -> None:
    project = make_pretrained(tmp_path, "mobilenet", {"features.lora.enabled": True})
    [message] = said(project, "train.py", BRIEF)
    assert message == "small has no linear layers for adapters: turn lora off."


@pytest.mark.sweep
def test_a_split_model_trains_like_a_whole_one(tmp_path: Path) -> None:
    """With FSDP 2, on two processes. Statistics of BatchNorm stay as they are.

    The CPU lacks SyncBatchNorm, and without it each process has its own: whole copies take over
    those of the first process, parts of a split model do not.
    """
    given: dict[str, Value] = {"hardware.sharding": "fsdp", "hardware.num_processes": 2}
    given["features.sync_batch_norm.enabled"] = True
    project = make_pretrained(tmp_path, "segformer", given)
    keep = "    for module in model.modules():\n        module.momentum = 0.0\n    return model"
    replace_in(project / "callbacks.py", "    return model", keep)
    assert_split_trains_alike(project, "--epochs", "1", "--limit-batches", "8")
