"""Predicts with the weights of a run: `python predict.py numbers.txt`."""

import argparse
import csv
import sys
from pathlib import Path

import torch
from accelerate import Accelerator, PartialState
from accelerate.utils import gather_object
from safetensors import SafetensorError
from safetensors.torch import load_model
from torch import Tensor

from config import Config, check_environment, load_config, newest_run
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


def read_inputs(config: Config, names: list[str]) -> Tensor:
    """Inputs of shape (rows, 4) from files with four numbers per line: replace it with yours."""
    rows = []
    for name in names:
        try:
            lines = Path(name).read_text(encoding="utf-8-sig").splitlines()
        except (OSError, ValueError) as error:
            raise SystemExit(f"{name} can't be read: {error}") from error
        for number, line in enumerate(lines, start=1):
            try:
                one, two, three, four = map(float, line.split(","))
            except ValueError as error:
                raise SystemExit(f"{name}, line {number}: use four numbers. {error}") from error
            rows.append([one, two, three, four])
    return torch.tensor(rows)


def predict(config: Config, model: torch.nn.Module, inputs) -> list[dict]:
    """A row for each input, in their order. Call it on all processes."""
    device, rows = next(model.parameters()).device, []
    with torch.inference_mode(), PartialState().split_between_processes(inputs) as share:
        for part in share.split(4 * config.batch_size):
            predictions = model(part.to(device)).squeeze(1)
            rows += [{"prediction": value} for value in predictions.tolist()]
    return [{"row": number, **row} for number, row in enumerate(gather_object(rows), start=1)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "inputs", nargs="+", metavar="FILE", help="a file with four numbers per line"
    )
    parser.add_argument("--run", help="the folder of a run; default: the newest")
    arguments = parser.parse_args()
    config, model = load(arguments.run)
    inputs = read_inputs(config, arguments.inputs)
    if not len(inputs):
        raise SystemExit("There is nothing to predict.")
    rows = predict(config, model, inputs)
    if PartialState().is_main_process:
        table = csv.DictWriter(sys.stdout, rows[0], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    PartialState().destroy_process_group()
