"""Predicts with the weights of a run: `python predict.py image.png folder > labels.csv`."""

import argparse
import csv
import sys
from pathlib import Path

import torch
from accelerate import Accelerator, PartialState
from accelerate.utils import gather_object
from PIL import Image, ImageOps
from safetensors import SafetensorError
from safetensors.torch import load_model

from config import Config, check_environment, load_config, newest_run
from data import FORMATS, is_hidden
from model import build_model


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


def read_image(path: Path) -> torch.Tensor:
    """A digit, white on black, shape (1, 8, 8), from 0 to 255."""
    try:
        picture = Image.open(path, formats=FORMATS)
        if picture.mode[0] in "IF":  # convert() would clip them
            raise ValueError("save it with 8 bits for each pixel")
        image = ImageOps.fit(picture.convert("L"), (8, 8))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise SystemExit(f"{path} can't be read as an image: {error}") from error
    return torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8).view(1, 8, 8)


def predict(config: Config, model: torch.nn.Module, inputs) -> list[dict]:
    """A row for each input, in their order. Call it on all processes."""
    device, rows = next(model.parameters()).device, []
    with torch.inference_mode(), PartialState().split_between_processes(inputs) as share:
        for paths in torch.utils.data.DataLoader(share, 4 * config.batch_size, collate_fn=list):
            images = torch.stack([read_image(path) for path in paths]).to(device) / 255
            for probs in model(images).cpu().double().softmax(dim=1).tolist():
                row = {"label": str(probs.index(max(probs)))}
                rows.append(row | {f"p_{digit}": prob for digit, prob in enumerate(probs)})
    return [{"image": str(p), **row} for p, row in zip(inputs, gather_object(rows), strict=True)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("inputs", nargs="+", type=Path, help="images, or folders of them")
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
        table = csv.DictWriter(sys.stdout, rows[0], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    PartialState().destroy_process_group()
