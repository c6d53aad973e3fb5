"""Predicts with the weights of a run: `python predict.py sound.wav sounds > labels.csv`."""

import argparse
import csv
import sys
from dataclasses import fields
from pathlib import Path

import torch
from accelerate import Accelerator, PartialState
from accelerate.utils import gather_object
from safetensors import SafetensorError
from safetensors.torch import load_model
from torch import Tensor, nn
from torch.utils.data import DataLoader, default_collate

from audio import find_sounds, read_sound
from data import class_names, prepare, sample_rate
from environment import check_environment, read_settings
from model import build_model
from train import Config


def load(folder=Config.output_dir, device=None) -> tuple[Config, nn.Module]:
    """The settings of a run, and its model with the trained weights, in evaluation mode."""
    accelerator = Accelerator()
    check_environment(accelerator)
    folder = Path(folder)
    weights = folder / "model.safetensors"
    if not weights.exists():
        raise SystemExit(f"{folder} has no model.safetensors: train first, or use another --run.")
    saved = read_settings(folder) | {"output_dir": folder}
    known = [field for field in fields(Config) if field.name in saved]
    values = {f.name: Path(saved[f.name]) if f.type is Path else saved[f.name] for f in known}
    config = Config(**values)
    model = build_model(config)
    try:
        load_model(model, weights)
    except (OSError, RuntimeError, SafetensorError) as error:
        raise SystemExit(f"{weights} does not fit the model of this project: {error}") from error
    return config, model.to(device or accelerator.device).eval()


def load_sound(path: Path, config: Config) -> tuple[Tensor, int]:
    """What the model takes of a file."""
    try:
        return prepare(read_sound(path, sample_rate(config)), config)
    except OSError as error:
        raise SystemExit(str(error)) from error


@torch.inference_mode()
def predict(config: Config, model: nn.Module, inputs) -> list[dict]:
    """A row for each input, in their order. All processes call it together."""
    device, rows = next(model.parameters()).device, []
    names = class_names(config)
    with PartialState().split_between_processes(inputs) as share:
        for paths in DataLoader(share, 4 * config.batch_size, collate_fn=list):
            sounds, lengths = default_collate([load_sound(path, config) for path in paths])
            probabilities = (
                model(sounds.to(device), lengths.to(device)).cpu().double().softmax(dim=1)
            )
            for chances in probabilities.tolist():
                chance_of = dict(zip(names, chances, strict=True))
                row = {"label": max(chance_of, key=chance_of.get)}
                rows.append(row | {f"p_{name}": chance for name, chance in chance_of.items()})
    named = zip(inputs, gather_object(rows), strict=True)
    return [{"sound": str(path), **row} for path, row in named]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("inputs", nargs="+", type=Path, help="sound files, or folders of them")
    parser.add_argument("--run", default=Config.output_dir, help="the folder of a run")
    arguments = parser.parse_args()
    inputs = []
    for path in arguments.inputs:
        inputs += (find_sounds(path) if path.is_dir() else []) or [path]
    rows = predict(*load(arguments.run), inputs)
    if PartialState().is_main_process:
        table = csv.DictWriter(sys.stdout, rows[0], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
