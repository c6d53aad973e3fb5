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
from safetensors import SafetensorError
from safetensors.torch import load_model
from sklearn.datasets import load_diabetes
from torch import Tensor, nn

from environment import check_environment, read_settings
from files import writing
from model import build_model
from train import Config


def load(folder=Config.output_dir, device=None) -> tuple[Config, nn.Module]:
    """The settings of a run, and its model with the trained weights, in evaluation mode."""
    accelerator = Accelerator()
    check_environment(accelerator)
    folder = Path(folder)
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


def read_inputs(config: Config, names: list[str]) -> Tensor:
    """The rows of CSV files whose first line names the columns, in any order."""
    columns, rows = load_diabetes().feature_names, []
    for name in names:
        before = len(rows)
        try:
            with open(name, encoding="utf-8-sig", newline="") as file:
                lines = csv.DictReader(file)
                found = lines.fieldnames or []
                if missing := [column for column in columns if column not in found]:
                    raise SystemExit(f"{name} lacks the columns {', '.join(missing)}.")
                for line in lines:
                    rows.append([float(line[column]) for column in columns])
        except (OSError, UnicodeError, csv.Error) as error:
            raise SystemExit(f"{name} can't be read: {error}") from error
        except (ValueError, TypeError) as error:
            raise SystemExit(f"{name}, row {len(rows) - before + 1}: {error}") from error
    return torch.tensor(rows)


@torch.inference_mode()
def predict(config: Config, model: nn.Module, inputs) -> list[dict]:
    """A row for each input, in their order. All processes call it together."""
    device, outputs = next(model.parameters()).device, []
    with PartialState().split_between_processes(inputs) as share:
        for table in share.split(4 * config.batch_size):
            predictions = model(table.to(device))
            outputs += predictions.tolist()
    return [
        {"row": number, "prediction": value}
        for number, value in enumerate(gather_object(outputs), start=1)
    ]


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
    parser.add_argument("inputs", nargs="+", metavar="CSV", help="a CSV file with the same columns")
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
