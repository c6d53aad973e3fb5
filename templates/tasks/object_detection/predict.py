import csv
import json
import sys
from pathlib import Path

import torch
from PIL import Image
from torch import Tensor
from torch.utils.data import DataLoader

from boxes import find_objects
from data import class_names
from lib.photos import read_image
from lib.scaled_images import to_tensor
from masks import decode, encode, find_masks
from pictures import draw, paint

#: slot functions
def list_objects(found: Tensor, image: Image.Image, size: int, names: list[str]) -> list[dict]:
    """What find_objects() found in an image that was scaled to `size` pixels, with a score above 0.

    A box has left, top, right and bottom in pixels of the image, and may extend beyond its edges.
    #: slot about_masks
    """
    boxes = found[:, :4].double() * torch.tensor(2 * image.size) / size
    rows = zip(boxes.tolist(), found[:, 4].tolist(), found[:, 5].int().tolist(), strict=True)
    #: region objects
    return [
        {"label": names[label], "score": score, "box": box} for box, score, label in rows if score
    ]
    #: end objects

#: slot before_batches
#: region names
names = class_names(config)
#: end names

#: replace names with saved_classes
names = json.loads((config.output_dir / "classes.json").read_text())

#: slot batches
for paths in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    images = [read_image(path) for path in paths]
    scaled = torch.stack([to_tensor(image, config.image_size) for image in images])
    for image, found in zip(images, find_objects(model(scaled.to(device))).cpu(), strict=True):
        rows.append({"objects": list_objects(found, image, config.image_size, names)})

#: slot about_masks when find=masks
A mask is that of the whole image, as encode() writes it.

#: replace objects when find=masks
# one mask at a time: images may be large
masks = (find_masks(one.unsqueeze(0), size, image.height, image.width)[0] for one in found)
return [
    {"label": names[label], "score": score, "box": box, "mask": encode(mask)}
    for (box, score, label), mask in zip(rows, masks, strict=True)
    if score
]

#: replace drawn when find=masks
masks = [decode(one["mask"]) for one in found]
picture = paint(read_image(row["image"]), masks, labels)
picture = draw(picture, [one["box"] for one in found], labels)

#: slot functions
COLUMNS = ["image", "label", "score", "left", "top", "right", "bottom"]


def write(rows: list[dict], threshold: float, folder: Path | None, as_csv: bool) -> None:
    """Print the objects of each image. If a folder is given, draw the images there."""
    try:
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SystemExit(f"Can't write to {folder}: {error}") from error
    table = csv.writer(sys.stdout, lineterminator="\n")
    if as_csv:
        table.writerow(COLUMNS)
    for number, row in enumerate(rows):
        found = [one for one in row["objects"] if one["score"] >= threshold]
        if as_csv:
            table.writerows(
                [row["image"], one["label"], one["score"], *one["box"]] for one in found
            )
        else:
            print(json.dumps({**row, "objects": found}, ensure_ascii=False))
        if folder:
            labels = [f"{one['label']} {one['score']:.2f}" for one in found]
            #: region drawn
            picture = draw(read_image(row["image"]), [one["box"] for one in found], labels)
            #: end drawn
            path = folder / f"{number:05}_{Path(row['image']).stem}.png"
            picture.save(path)

#: slot arguments
help = "minimum score of an object (default: %(default)s)"
parser.add_argument("--threshold", type=float, default=0.3, help=help)
parser.add_argument("--pictures", type=Path, help="a new folder for images with boxes")
help = "a row of CSV for each object, instead of a line of JSON for each image"
parser.add_argument("--csv", action="store_true", help=help)

#: replace predict
write(rows, arguments.threshold, arguments.pictures, arguments.csv)

#: into model.py with predict with saved_classes
#: slot parameters
, names: list[str] | None = None

#: replace names
names = names or class_names(config)  # those of a run, so that no data is needed
