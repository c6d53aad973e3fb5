"""Object detection of made-up images, with small pretrained models."""

from collections.abc import Mapping
from pathlib import Path

from scaffold.answers.catalog import Value
from support.rendering import of_task, write_project
from support.training import run

TASK = "object_detection"
# images of a size, or of several ones, with up to three triangles: in the format of COCO with all
# forms of masks, in that of YOLO with boxes or polygons, or in that of Pascal VOC
DRAW = """
import json
import sys
import numpy as np
from pathlib import Path
from PIL import Image, ImageDraw
from pycocotools import mask as coco

def list_forms(points, width, height):
    runs = coco.merge(coco.frPyObjects([points], height, width))
    pixels = coco.decode(runs).flatten(order="F")
    edges = np.flatnonzero(np.diff(pixels, prepend=0, append=1 - pixels[-1]))
    text = {**runs, "counts": runs["counts"].decode()}
    return [points], {**text, "counts": np.diff(edges, prepend=0).tolist()}, text

kind, folder, (count, size) = sys.argv[1], Path(sys.argv[2]), map(int, sys.argv[3:])
draw, names = np.random.default_rng(count), ["cup", "red ball"]
folders = {"coco": ["."], "voc": ["JPEGImages", "Annotations"]}.get(kind, ["images", "labels"])
for name in folders:
    (folder / name).mkdir(parents=True, exist_ok=True)
Path("things/data.yaml").write_text("names: {0: cup, 1: red ball}")
images, annotations = [], []
for number in range(count):
    width, height = (size, size) if size else (60 - number % 3, 40 + number % 5)
    image = Image.fromarray(draw.integers(0, 60, (height, width, 3), dtype=np.uint8))
    objects = []
    for _ in range(number % 4):
        left, top = int(draw.integers(0, width - 21)), int(draw.integers(0, height - 21))
        right, bottom = left + int(draw.integers(9, 20)), top + int(draw.integers(9, 20))
        label = int(draw.integers(2))
        points = [left, bottom, (left + right) / 2, top, right, bottom]
        ImageDraw.Draw(image).polygon(points, fill=(250, 250 * (1 - label), 0))
        objects.append((left, top, right, bottom, label, points))
    file = f"{number:03}.png"
    image.save(folder / folders[0] / file)
    if kind == "coco":
        images.append({"id": 7 * number, "file_name": file, "width": width, "height": height})
        for left, top, right, bottom, label, points in objects:
            row = {"id": len(annotations) + 1, "image_id": 7 * number, "area": 1}
            row |= {"category_id": 3 + 6 * label, "iscrowd": int(number % 7 == 3)}
            row |= {"bbox": [left, top, right - left, bottom - top]}
            form = list_forms(points, width, height)[len(annotations) % 3]
            annotations.append({**row, "segmentation": form})
    elif kind == "voc":
        rows = "".join(
            f"<object><name>{names[label]}</name><bndbox><xmin>{left + 1}</xmin><ymin>{top + 1}"
            f"</ymin><xmax>{right}</xmax><ymax>{bottom}</ymax></bndbox></object>"
            for left, top, right, bottom, label, _ in objects
        )
        text = f"<annotation><filename>{file}</filename>{rows}</annotation>"
        (folder / "Annotations" / f"{number:03}.xml").write_text(text)
    elif objects:
        lines = ""
        for left, top, right, bottom, label, points in objects:
            box = [(left + right) / 2, (top + bottom) / 2, right - left, bottom - top]
            places = enumerate(points if kind == "polygons" else box)
            shares = [value / (width, height)[place % 2] for place, value in places]
            lines += " ".join(map(str, [label, *shares])) + "\\n"
        (folder / "labels" / f"{number:03}.txt").write_text(lines)
if kind == "coco":
    categories = [{"id": 9, "name": "red ball"}, {"id": 3, "name": "cup"}]
    content = {"images": images, "annotations": annotations, "categories": categories}
    (folder / "annotations.json").write_text(json.dumps(content))
"""


# COCO's own evaluation of what predict.py finds, of boxes or masks, beside this file
COCO = """
import contextlib, io, json, sys
from pathlib import Path
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval
rows, result = [json.loads(line) for line in sys.stdin], {}
with contextlib.redirect_stdout(io.StringIO()):
    true = COCO(sys.argv[1])
    images = {row["file_name"]: row["id"] for row in true.dataset["images"]}
    classes = {row["name"]: row["id"] for row in true.dataset["categories"]}
    for kind in sys.argv[2:]:
        name = "mask_" if kind == "segm" else ""
        found = []
        for row in rows:
            for one in row["objects"]:
                left, top, right, bottom = one["box"]
                box = {"bbox": [left, top, right - left, bottom - top]}
                shape = box if kind == "bbox" else {"segmentation": one["mask"]}
                image = {"image_id": images[Path(row["image"]).name], **shape}
                found.append({**image, "category_id": classes[one["label"]], "score": one["score"]})
        scores = COCOeval(true, true.loadRes(found), kind)
        scores.evaluate(), scores.accumulate(), scores.summarize()
        names = [f"test_{name}map", f"test_{name}map_50", f"test_{name}map_75"]
        result |= dict(zip(names, scores.stats.tolist()))
print(json.dumps(result))
"""


def make_project(
    folder: Path, kind: str, given: Mapping[str, Value] = {}, count: int = 40, size: int = 0
) -> Path:
    """A project for images of a folder, and the folder."""
    dataset = "yolo" if kind == "polygons" else kind
    files = {"dataset": dataset, "path": "things", "image_size": 64, "training.num_workers": 0}
    write_project(folder, TASK, **{**files, **given})
    draw(folder, kind, "things", count, size)
    return folder


def draw(folder: Path, kind: str, target: str, count: int, size: int = 0) -> None:
    (folder / "things").mkdir(exist_ok=True)
    run(folder, "-c", DRAW, kind, target, str(count), str(size))


def share_images(project: Path, images: str, number: int) -> Path:
    """A folder with the images of another one, for other annotations."""
    folder = project / f"wrong/{number}"
    folder.mkdir(parents=True)
    (folder / "images").symlink_to(project / images)
    return folder


# small detectors with random weights, as they would come from the Hub
PRETRAINED = """
import sys
import torch
import transformers
from transformers import HGNetV2Config, ResNetConfig, RTDetrResNetConfig, set_seed
set_seed(0)
size = {"d_model": 32, "decoder_layers": 2, "decoder_ffn_dim": 32, "decoder_attention_heads": 2}
size |= {"encoder_layers": 1, "encoder_ffn_dim": 32, "encoder_attention_heads": 2}
size |= {"num_queries": 20, "num_labels": 5}
widths, stages = [8, 16, 24, 32], ["stage2", "stage3", "stage4"]
depth = {"embedding_size": 8, "hidden_sizes": widths, "depths": [1] * 4, "layer_type": "basic"}
plain = {"backbone": None, "use_timm_backbone": False, "use_pretrained_backbone": False}
plain |= {**size, "auxiliary_loss": True}
hybrid = {**size, "encoder_hidden_dim": 32, "decoder_in_channels": [32] * 3, "num_denoising": 10}
resnet = {"backbone_config": RTDetrResNetConfig(**depth, out_features=stages)}
resnet |= {"encoder_in_channels": widths[1:]}
ones, hg = [1] * 4, {"stem_channels": [3, 8, 8], "stage_in_channels": widths}
hg |= {"stage_mid_channels": [8] * 4, "stage_out_channels": [16, 24, 32, 40]}
hg |= {"stage_num_blocks": ones, "stage_numb_of_layers": ones, "out_features": stages}
fine = {"backbone_config": HGNetV2Config(**hg, hidden_sizes=[16, 24, 32, 40])}
fine |= {"encoder_in_channels": [24, 32, 40], "hidden_expansion": 0.5}
vit = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
vit |= {"intermediate_size": 32, "image_size": [64, 64], "num_detection_tokens": 20}
last, three = (ResNetConfig(**depth, out_features=names) for names in (stages[2:], stages))
deformable = {"backbone_config": three, "num_feature_levels": 3}
plain |= {"backbone_config": last}
name, settings = {
    "conditional": ("ConditionalDetr", plain),
    "dab": ("DabDetr", {**plain, "hidden_size": 32}),
    "table": ("TableTransformer", plain),
    "detr": ("Detr", plain),
    "deformable": ("DeformableDetr", {**plain, **deformable}),
    "rt_detr": ("RTDetr", {**hybrid, **resnet}),
    "rt_detr_v2": ("RTDetrV2", {**hybrid, **resnet}),
    "d_fine": ("DFine", {**hybrid, **fine}),
    "yolos": ("Yolos", {**vit, "num_labels": 5}),
}[sys.argv[1]]
build = getattr(transformers, f"{name}ForObjectDetection")
model = build(build.config_class(**settings))
with torch.no_grad():
    for weight in model.parameters():  # as if it were trained: no two queries are alike
        weight += 0.1 * torch.randn_like(weight)
model.save_pretrained("small")
processor = "RTDetr" if "num_denoising" in settings else "Yolos" if name == "Yolos" else "Detr"
getattr(transformers, f"{processor}ImageProcessor")().save_pretrained("small")
"""
TRANSFORMERS: dict[str, Value] = of_task(
    TASK, model="transformers", pretrained_name="small", image_size=64
)


def make_pretrained(folder: Path, kind: str, given: Mapping[str, Value] = {}) -> Path:
    """A project for COCO files with a small detector, and the folder of the detector."""
    project = make_project(folder, "coco", {**TRANSFORMERS, **given})
    run(project, "-c", PRETRAINED, kind)
    return project
