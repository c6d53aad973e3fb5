"""Predicts with the weights of a run: `python predict.py folder --pictures boxes`."""

import argparse
import csv
import json
import sys
from pathlib import Path

import torch
from accelerate import Accelerator, PartialState
from accelerate.utils import gather_object
from PIL import Image
from safetensors import SafetensorError
from safetensors.torch import load_model
from torch import Tensor
from torch.utils.data import DataLoader

from boxes import find_objects
from config import Config, check_environment, load_config, newest_run
from data import FORMATS, class_names, is_hidden, to_rgb, to_tensor
from model import build_model
from pictures import draw


def load(folder=None, device=None) -> tuple[Config, torch.nn.Module]:
    """The settings of a run, by default the newest, and its trained model in evaluation mode."""
    check_environment(Accelerator())
    config = load_config(Path(folder or newest_run()))
    model = build_model(config)
    weights = config.output_dir / "model.safetensors"
    try:
        load_model(model, weights)
    except (OSError, RuntimeError, SafetensorError) as error:
        raise SystemExit(f"{weights} can't be loaded: {error}") from error
    return config, model.to(device or PartialState().device).eval()


def list_objects(found: Tensor, image: Image.Image, size: int, names: list[str]) -> list[dict]:
    """What find_objects() found in an image that was scaled to `size` pixels, with a score above 0.

    A box has left, top, right and bottom in pixels of the image, and may extend beyond its edges.
    """
    boxes = found[:, :4].double() * torch.tensor(2 * image.size) / size
    rows = zip(boxes.tolist(), found[:, 4].tolist(), found[:, 5].int().tolist(), strict=True)
    return [
        {"label": names[label], "score": score, "box": box} for box, score, label in rows if score
    ]


COLUMNS = ["image", "label", "score", "left", "top", "right", "bottom"]


def read_image(path: Path) -> Image.Image:
    """An upright RGB image."""
    try:
        with Image.open(path, formats=FORMATS) as picture:
            return to_rgb(picture)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise SystemExit(f"{path} can't be read as an image: {error}") from error


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
            picture = draw(read_image(row["image"]), [one["box"] for one in found], labels)
            path = folder / f"{number:05}_{Path(row['image']).stem}.png"
            picture.save(path)


def predict(config: Config, model: torch.nn.Module, inputs) -> list[dict]:
    """A row for each input, in their order. Call it on all processes."""
    device, rows = next(model.parameters()).device, []
    names = class_names(config)
    with torch.inference_mode(), PartialState().split_between_processes(inputs) as share:
        for paths in DataLoader(share, 4 * config.batch_size, collate_fn=list):
            images = [read_image(path) for path in paths]
            scaled = torch.stack([to_tensor(image, config.image_size) for image in images])
            for image, found in zip(
                images, find_objects(model(scaled.to(device))).cpu(), strict=True
            ):
                rows.append({"objects": list_objects(found, image, config.image_size, names)})
    return [{"image": str(p), **row} for p, row in zip(inputs, gather_object(rows), strict=True)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("inputs", nargs="+", type=Path, help="images, or folders of them")
    help = "minimum score of an object (default: %(default)s)"
    parser.add_argument("--threshold", type=float, default=0.3, help=help)
    parser.add_argument("--pictures", type=Path, help="a new folder for images with boxes")
    help = "a row of CSV for each object, instead of a line of JSON for each image"
    parser.add_argument("--csv", action="store_true", help=help)
    parser.add_argument("--run", help="the folder of a run; default: the newest")
    arguments = parser.parse_args()
    suffixes, inputs = Image.registered_extensions(), []
    known = {suffix for suffix, name in suffixes.items() if name in FORMATS}
    for path in arguments.inputs:
        found = [p for p in path.rglob("*") if p.suffix.lower() in known and not is_hidden(p, path)]
        if path.is_dir() and not found:
            raise SystemExit(f"{path} has no images.")
        inputs += sorted(found) or [path]
    rows = predict(*load(arguments.run), inputs)
    if PartialState().is_main_process:
        write(rows, arguments.threshold, arguments.pictures, arguments.csv)
    PartialState().destroy_process_group()
