#: file when project.loop=complete
"""Pictures of predictions, written during training."""

from colorsys import hsv_to_rgb
from pathlib import Path

import torch
from accelerate import Accelerator
from PIL import Image, ImageDraw
from torch import Tensor, nn

from boxes import find_objects
from data import Objects, collate

SHOWN = 0.3  # minimum score of a box in a picture


@torch.no_grad()
def draw_boxes(
    accelerator: Accelerator,
    model: nn.Module,
    samples: list[tuple[Tensor, Objects]],
    names: list[str],
    path: Path,
) -> None:
    """Draw images with their boxes, each above the image with the predicted boxes."""
    images, targets = collate(samples)
    #: region draw
    if accelerator.is_main_process:
        detector = accelerator.unwrap_model(model)  # only the main process runs it
        detector.eval()
        detections = find_objects(detector(images.to(accelerator.device))).cpu()
        detector.train()
        save_rows(images, targets, detections, names, path)
    #: end draw


def save_rows(
    images: Tensor, targets: list[Objects], detections: Tensor, names: list[str], path: Path
) -> None:
    """Write what draw_boxes() draws."""
    side = max(images.shape[-1], 192)  # so that there is room for the names
    picture = Image.new("RGB", (len(images) * side, 2 * side))
    for column, (image, objects) in enumerate(zip(images, targets, strict=True)):
        pixels = (255 * image).round().byte().permute(1, 2, 0).numpy()
        photo, scale = Image.fromarray(pixels).resize((side, side)), side / image.shape[-1]
        found = detections[column][detections[column, :, 4] >= SHOWN]
        true = [names[label] for label in objects["labels"].tolist()]
        #: region pairs
        rows = [(objects["boxes"], true), (found[:, :4], label_found(found, names))]
        for row, (boxes, labels) in enumerate(rows):
            drawn = draw(photo, (scale * boxes).tolist(), labels)
            #: end pairs
            picture.paste(drawn, (column * side, row * side))
    picture.save(path)


def label_found(found: Tensor, names: list[str]) -> list[str]:
    """The class and score of detections, shape (detections, 6)."""
    #: region labels
    return [f"{names[int(label)]} {score:.2f}" for score, label in found[:, 4:].tolist()]
    #: end labels


#: slot functions


def draw(image: Image.Image, boxes: list[list[float]], labels: list[str]) -> Image.Image:
    """An image with labeled boxes. Labels with the same first word have the same color."""
    drawn = image.convert("RGB")
    pen, width = ImageDraw.Draw(drawn), max(2, max(image.size) // 300)
    for box, label in zip(boxes, labels, strict=True):
        #: region color
        hue = sum(label.split(" ")[0].encode()) * 0.618 % 1
        color = tuple(int(255 * part) for part in hsv_to_rgb(hue, 0.8, 1.0))
        #: end color
        pen.rectangle(box, outline=color, width=width)
        place = (box[0] + width + 1, box[1] + width)
        pen.rectangle(pen.textbbox(place, label), fill="black")
        pen.text(place, label, fill=color)
    return drawn
#: end file

from masks import find_masks

#: replace pairs when find=masks
size = image.shape[-1]
masks = find_masks(found, size, size, size)
rows = [
    (objects["boxes"], objects["masks"], true),
    (found[:, :4], masks, label_found(found, names)),
]
for row, (boxes, masks, labels) in enumerate(rows):
    painted = paint(photo, masks, labels)
    drawn = draw(painted, (scale * boxes).tolist(), labels)

#: replace labels when find=masks
return [f"{names[int(label)]} {score:.2f}" for score, label in found[:, 4:6].tolist()]

#: slot functions when find=masks
def paint(image: Image.Image, masks: Tensor, labels: list[str]) -> Image.Image:
    """An image with each mask half covered by the colour of its label."""
    painted = image.convert("RGB")
    for mask, label in zip(masks, labels, strict=True):
        cover = Image.fromarray((127 * mask.byte()).numpy()).resize(image.size)
        painted.paste(find_color(label), mask=cover)
    return painted


def find_color(label: str) -> tuple[int, ...]:
    hue = sum(label.split(" ")[0].encode()) * 0.618 % 1
    return tuple(int(255 * part) for part in hsv_to_rgb(hue, 0.8, 1.0))

#: replace color when find=masks
color = find_color(label)

#: replace draw when hardware.sharding=deepspeed|fsdp
# run on all processes: each one holds a shard of the weights
model.eval()
detections = find_objects(model(images.to(accelerator.device))).cpu()
model.train()
if accelerator.is_main_process:
    save_rows(images, targets, detections, names, path)
