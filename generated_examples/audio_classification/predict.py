"""Predicts with the weights of a run: `python predict.py sound.wav sounds > labels.csv`."""

import argparse
import csv
import json
import sys
from pathlib import Path

import torch
from accelerate import Accelerator, PartialState
from accelerate.utils import gather_object
from safetensors import SafetensorError
from safetensors.torch import load_model
from torch import Tensor
from torch.utils.data import DataLoader, default_collate

from audio import find_sounds, read_sound
from config import Config, check_environment, load_config, newest_run
from data import prepare, sample_rate
from model import build_model


def load(folder=None, device=None) -> tuple[Config, torch.nn.Module]:
    """The settings of a run, by default the newest, and its trained model in evaluation mode."""
    check_environment(Accelerator())
    config = load_config(Path(folder or newest_run()))
    model = build_model(config, json.loads((config.output_dir / "classes.json").read_text()))
    weights = config.output_dir / "model.safetensors"
    try:
        load_model(model, weights)
    except (OSError, RuntimeError, SafetensorError) as error:
        raise SystemExit(f"{weights} can't be loaded: {error}") from error
    return config, model.to(device or PartialState().device).eval()


def load_sound(path: Path, config: Config) -> tuple[Tensor, int]:
    """The model input of a file."""
    try:
        return prepare(read_sound(path, sample_rate(config)), config)
    except OSError as error:
        raise SystemExit(str(error)) from error


def predict(config: Config, model: torch.nn.Module, inputs) -> list[dict]:
    """A row for each input, in their order. Call it on all processes."""
    device, rows = next(model.parameters()).device, []
    names = json.loads((config.output_dir / "classes.json").read_text())
    with torch.inference_mode(), PartialState().split_between_processes(inputs) as share:
        for paths in DataLoader(share, 4 * config.batch_size, collate_fn=list):
            sounds, lengths = default_collate([load_sound(path, config) for path in paths])
            probabilities = (
                model(sounds.to(device), lengths.to(device)).cpu().double().softmax(dim=1)
            )
            for probs in probabilities.tolist():
                prob_of = dict(zip(names, probs, strict=True))
                row = {"label": max(prob_of, key=prob_of.get)}
                rows.append(row | {f"p_{name}": prob for name, prob in prob_of.items()})
    return [{"sound": str(p), **row} for p, row in zip(inputs, gather_object(rows), strict=True)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("inputs", nargs="+", type=Path, help="sound files, or folders of them")
    parser.add_argument("--run", help="the folder of a run; default: the newest")
    arguments = parser.parse_args()
    inputs = []
    for path in arguments.inputs:
        found = find_sounds(path) if path.is_dir() else [path]
        if not found:
            raise SystemExit(f"{path} has no sounds.")
        inputs += found
    rows = predict(*load(arguments.run), inputs)
    if PartialState().is_main_process:
        table = csv.DictWriter(sys.stdout, rows[0], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    PartialState().destroy_process_group()
