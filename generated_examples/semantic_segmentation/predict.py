"""Predicts with the weights of a run: `python predict.py folder --output masks > shares.csv`."""

import argparse
import csv
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from accelerate import Accelerator, PartialState
from accelerate.utils import gather_object
from PIL import Image
from safetensors import SafetensorError
from safetensors.torch import load_model
from torch.utils.data import DataLoader

from config import Config, check_environment, load_config, newest_run
from data import FORMATS, is_hidden, to_rgb, to_tensor
from model import build_model
from pictures import COLORS


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


def write(rows: list[dict], folder: Path) -> None:
    """Write the masks as palette images of class indices, and print the share of each class."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SystemExit(f"Can't write to {folder}: {error}") from error
    table = csv.DictWriter(sys.stdout, rows[0], lineterminator="\n")
    table.writeheader()
    for number, row in enumerate(rows):
        picture = Image.fromarray(row["mask"].numpy())
        picture.putpalette((255 * COLORS).byte().flatten().tolist())
        path = folder / f"{number:05}_{Path(row['image']).stem}.png"
        picture.save(path)
        table.writerow({**row, "mask": path})


def read_image(path: Path) -> Image.Image:
    """An upright RGB image."""
    try:
        with Image.open(path, formats=FORMATS) as picture:
            return to_rgb(picture)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise SystemExit(f"{path} can't be read as an image: {error}") from error


def predict(config: Config, model: torch.nn.Module, inputs) -> list[dict]:
    """A row for each input, in their order. Call it on all processes."""
    device, rows = next(model.parameters()).device, []
    with torch.inference_mode(), PartialState().split_between_processes(inputs) as share:
        for paths in DataLoader(share, 4 * config.batch_size, collate_fn=list):
            images = [read_image(path) for path in paths]
            scaled = torch.stack([to_tensor(image, config.image_size) for image in images])
            for image, logits in zip(images, model(scaled.to(device)).cpu(), strict=True):
                full = F.interpolate(logits[None], (image.height, image.width), mode="bilinear")
                mask = full.argmax(dim=1)[0].byte()
                shares = mask.flatten().bincount(minlength=len(logits)) / mask.numel()
                named = {f"class_{label}": share for label, share in enumerate(shares.tolist())}
                rows.append({"mask": mask, **named})
    return [{"image": str(p), **row} for p, row in zip(inputs, gather_object(rows), strict=True)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("inputs", nargs="+", type=Path, help="images, or folders of them")
    parser.add_argument("--output", type=Path, default=Path("masks"), help="folder of the masks")
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
        write(rows, arguments.output)
    PartialState().destroy_process_group()
