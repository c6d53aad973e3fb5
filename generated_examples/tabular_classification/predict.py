"""Predicts with the weights of a run: `python predict.py rows.csv > labels.csv`."""

import argparse
import csv
import sys
from pathlib import Path

import torch
from accelerate import Accelerator, PartialState
from accelerate.utils import gather_object
from safetensors import SafetensorError
from safetensors.torch import load_model
from sklearn.datasets import load_breast_cancer
from torch import Tensor

from config import Config, check_environment, load_config, newest_run
from data import parse_number, read_csv
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
    """The rows of CSV files whose first line names the columns, in any order."""
    columns, rows = list(load_breast_cancer().feature_names), []
    for name in names:
        found, lines = read_csv(name)
        if missing := [column for column in columns if column not in found]:
            raise SystemExit(f"{name} lacks the columns {', '.join(missing)}.")
        for number, line in enumerate(lines, start=1):
            cells = dict(zip(found, line, strict=True))
            row = [parse_number(cells[column]) for column in columns]
            if None in row:
                wrong = columns[row.index(None)]
                raise SystemExit(
                    f"{name}, row {number}: {wrong} is {cells[wrong]!r}, not a finite number."
                )
            rows.append(row)
    return torch.tensor(rows)


def predict(config: Config, model: torch.nn.Module, inputs) -> list[dict]:
    """A row for each input, in their order. Call it on all processes."""
    device, rows = next(model.parameters()).device, []
    names = load_breast_cancer().target_names
    with torch.inference_mode(), PartialState().split_between_processes(inputs) as share:
        for table in share.split(4 * config.batch_size):
            predictions = model(table.to(device))
            for probs in predictions.cpu().double().softmax(dim=1).tolist():
                prob_of = dict(zip(names, probs, strict=True))
                row = {"label": max(prob_of, key=prob_of.get)}
                rows.append(row | {f"p_{name}": prob for name, prob in prob_of.items()})
    return [{"row": number, **row} for number, row in enumerate(gather_object(rows), start=1)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("inputs", nargs="+", metavar="CSV", help="a CSV file with the same columns")
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
