"""Predicts with the weights of a run."""

import argparse
import csv
import json
import sys
from contextlib import nullcontext
from dataclasses import fields
from pathlib import Path

import torch
from accelerate import Accelerator, PartialState
from accelerate.utils import gather_object
from PIL import Image, ImageOps
from safetensors import SafetensorError
from safetensors.torch import load_model
from torch import Tensor, nn
from torch.utils.data import DataLoader

from environment import check_environment, read_settings
from files import writing
from model import build_model
from run_folders import newest_run
from train import Config


def load(folder=Config.output_dir, device=None) -> tuple[Config, nn.Module]:
    """The settings of a run, and its model with the trained weights, in evaluation mode."""
    accelerator = Accelerator(cpu=True)
    check_environment(accelerator)
    folder = newest_run(Path(folder))
    weights = folder / "model.safetensors"
    if not weights.exists():  # the run has not ended: its best weights so far
        weights = folder / "best.safetensors"
    if not weights.exists():
        raise SystemExit(f"{folder} has no weights: train first, or choose another run with --run.")
    saved = read_settings(folder) | {"output_dir": folder}
    known = [field for field in fields(Config) if field.name in saved]
    values = {f.name: Path(saved[f.name]) if f.type is Path else saved[f.name] for f in known}
    config = Config(**values)
    model = build_model(config)
    try:
        load_model(model, weights)
    except (OSError, RuntimeError, SafetensorError) as error:
        reason = " ".join(str(error).split())
        raise SystemExit(f"{weights} does not fit the model of this project: {reason}") from error
    return config, model.to(device or accelerator.device).eval()


def read_inputs(config: Config, names: list[str]) -> list[Path]:
    """Image files, and the images in folders, in the order of their names."""
    known, paths = Image.registered_extensions(), []
    for path in map(Path, names):
        inside = sorted(file for file in path.rglob("*") if file.suffix.lower() in known)
        paths += inside if path.is_dir() else [path]
    return paths


def read_image(path: Path) -> Tensor:
    """A digit, white on black, shape (1, 8, 8), from 0 to 255."""
    try:
        image = ImageOps.fit(Image.open(path).convert("L"), (8, 8))
    except (OSError, SyntaxError, ValueError) as error:
        raise SystemExit(f"{path} can't be read as an image: {error}") from error
    return torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8).view(1, 8, 8)


@torch.inference_mode()
def predict(config: Config, model: nn.Module, inputs) -> list[dict]:
    """A row for each input, in their order. All processes call it together."""
    device, outputs = next(model.parameters()).device, []
    names = [str(digit) for digit in range(10)]
    # the precision of training
    precision = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(config.mixed_precision)
    autocast = torch.autocast(device.type, precision, enabled=precision is not None)
    with PartialState().split_between_processes(inputs) as share, autocast:
        for paths in DataLoader(share, 4 * config.batch_size, collate_fn=list):
            images = torch.stack([read_image(path) for path in paths]).to(device) / 255
            logits = model(images)
            outputs += logits.cpu().double().softmax(dim=1).tolist()
    rows, columns = [], [f"p_{name}" for name in names]
    for path, chances in zip(inputs, gather_object(outputs), strict=True):
        label, named = names[chances.index(max(chances))], zip(columns, chances, strict=True)
        rows.append({"image": str(path), "label": label, **dict(named)})
    return rows


def write(rows: list[dict], path: Path | None) -> None:
    """Write JSON lines to a .jsonl file, or CSV to another one or to standard output."""
    with writing(path), path.open("w") if path else nullcontext(sys.stdout) as file:
        if path and path.suffix == ".jsonl":
            file.writelines(f"{json.dumps(row)}\n" for row in rows)
        else:
            table = csv.DictWriter(file, rows[0], lineterminator="\n")
            table.writeheader()
            table.writerows(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("inputs", nargs="+", metavar="IMAGE", help="an image, or a folder of them")
    parser.add_argument("--run", default=Config.output_dir, help="the folder of a run")
    parser.add_argument("--output", type=Path, help="a .csv or .jsonl file; without it, print CSV")
    arguments = parser.parse_args()
    config, model = load(arguments.run)
    inputs = read_inputs(config, arguments.inputs)
    if not len(inputs):
        raise SystemExit("There is nothing to predict.")
    rows = predict(config, model, inputs)
    if PartialState().is_main_process:
        write(rows, arguments.output)


if __name__ == "__main__":
    main()
