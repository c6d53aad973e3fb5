"""Predicts with the weights of a run: `python predict.py histories.csv > forecasts.csv`."""

import argparse
import csv
import sys
from pathlib import Path

import pandas as pd
import torch
from accelerate import Accelerator, PartialState
from accelerate.utils import gather_object
from safetensors import SafetensorError
from safetensors.torch import load_model
from torch.utils.data import DataLoader

from config import Config, check_environment, load_config, newest_run
from data import arrange, find_format, read_table
from model import build_model
from scales import Scales


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


def read_inputs(config: Config, names: list[str]) -> list[dict]:
    """The newest values of each series of files with the columns of the training data.

    They are scaled as in training. A series that is new is scaled by its own values.
    """
    scales, histories = Scales.load(config.output_dir), []
    for path in names:
        given = read_table(path, config)
        table = arrange(given, path, scales.step)
        last = table.columns[-1]
        own = Scales.fit(table, scales.season, scales.step).series
        for name, row in table.iterrows():
            history = row.ffill()[: row.last_valid_index()].dropna()
            if len(history) < config.context:
                raise SystemExit(
                    f"{path}: series {name!r} has {len(history)} steps, and a forecast needs "
                    f"{config.context}."
                )
            if history.index[-1] != last:
                end, until = history.index[-1], f"as others have values until {last}"
                print(
                    f"{path}: series {name!r} is forecast from {end} on, {until}", file=sys.stderr
                )
            mean, std, _ = scales.series.get(name, own[name])
            values = torch.tensor(history.to_numpy()[-config.context :])
            context = ((values - mean) / std).float()
            start = list_times(str(history.index[-1]), 2, scales.step)[1]
            row = {"series": name, "start": start, "mean": mean, "std": std, "context": context}
            histories.append({**row, "format": choose_format(given["time"], table.columns)})
    return histories


def choose_format(given: pd.Series, times: pd.Index) -> str:
    """How the file writes its times. Empty: as numbers."""
    if not isinstance(times, pd.DatetimeIndex):
        return ""
    days = (times == times.normalize()).all()
    zoned = given.astype(str).str.contains("[T ].*(?:Z|[+-][0-9:]+)$").any()
    hours = "%Y-%m-%d %H:%M:%SZ" if zoned else "%Y-%m-%d %H:%M:%S"
    return find_format(given) or ("%Y-%m-%d" if days else hours)


def list_times(start: str, count: int, step: str, pattern: str = "") -> list[str]:
    """`count` times, beginning with `start`, written in this format of strftime."""
    if step.isdigit():
        return [str(int(start) + number * int(step)) for number in range(count)]
    times = pd.date_range(start, periods=count, freq=step)
    return [time.strftime(pattern) if pattern else str(time) for time in times]


def list_lines(rows: list[dict], config: Config) -> list[list]:
    """A line for each series and time, below the names of the columns."""
    step = Scales.load(config.output_dir).step
    names = [name for name in rows[0] if name not in ("series", "start", "format")]
    lines = [["series", "time", *names]]
    for row in rows:
        columns = [row[name] for name in names]
        times = list_times(row["start"], len(columns[0]), step, row["format"])
        lines += [[row["series"], *line] for line in zip(times, *columns, strict=True)]
    return lines


def predict(config: Config, model: torch.nn.Module, inputs) -> list[dict]:
    """A row for each input, in their order. Call it on all processes."""
    device, rows = next(model.parameters()).device, []
    with torch.inference_mode(), PartialState().split_between_processes(inputs) as share:
        for histories in DataLoader(share, 4 * config.batch_size, collate_fn=list):
            contexts = torch.stack([history["context"] for history in histories])
            for history, forecast in zip(histories, model(contexts.to(device)).cpu(), strict=True):
                forecast = history["mean"] + history["std"] * forecast.double()
                row = {name: history[name] for name in ("series", "start", "format")}
                rows.append({**row, "forecast": forecast.tolist()})
    return gather_object(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "inputs", nargs="+", metavar="FILE", help="a file with columns as in training"
    )
    parser.add_argument("--run", help="the folder of a run; default: the newest")
    arguments = parser.parse_args()
    config, model = load(arguments.run)
    inputs = read_inputs(config, arguments.inputs)
    if not len(inputs):
        raise SystemExit("There is nothing to predict.")
    rows = predict(config, model, inputs)
    if PartialState().is_main_process:
        lines = list_lines(rows, config)
        csv.writer(sys.stdout, lineterminator="\n").writerows(lines)
    PartialState().destroy_process_group()
