"""List all runs: their state, the settings that differ, and their metrics.

    python compare.py
    python compare.py runs/first runs/second --sort val_loss --plot curves.png --output runs.csv

Searches the folders for runs at any depth. Imports neither torch nor train.py.
"""

import csv
import json
import sys
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from dataclasses import dataclass
from math import inf, isfinite
from pathlib import Path

METRIC = "val_accuracy"  # unless --metric names another
# lower is better for metrics with these words in their names, higher for all others
LOWER_IS_BETTER = ["loss", "error", "mae", "mse", "perplexity", "distance"]


@dataclass
class Run:
    folder: Path
    started: float  # or continued: when config.json was written
    written: float  # when its last line was written
    settings: dict
    lines: list[dict[str, float]]  # of metrics.jsonl

    def best(self, metric: str) -> float | None:
        lines = [line for line in self.lines if line["step"]]  # step 0 is before training
        found = [line[metric] for line in lines if line.get(metric) is not None]
        values = [value for value in found if isfinite(value)]
        better = min if is_lower_better(metric) else max
        return better(values, default=None)

    def state(self) -> str:
        """The state of the run, judged by its files."""
        if any(name.startswith("test_") for line in self.lines[-1:] for name in line):
            return "finished"
        pause = (self.written - self.started) / max(1, len(self.lines))  # between two lines
        if time.time() - self.written < max(60, 3 * pause):
            return "running"
        if any(self.folder.glob("checkpoint_*[0-9]")):
            return "can be resumed"
        return "unfinished"

    def row(self, metrics: list[str]) -> dict:
        """All settings, the best values of `metrics`, and the last values of all metrics."""
        last = {name: value for line in self.lines for name, value in line.items()}
        row = {"run": str(self.folder), "state": self.state(), "step": last.pop("step", None)}
        row["started"] = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.started))
        return row | self.settings | {f"best {name}": self.best(name) for name in metrics} | last


def is_lower_better(metric: str) -> bool:
    return any(part in metric for part in LOWER_IS_BETTER)


def find_runs(folders: list[Path]) -> list[Run]:
    """The runs in these folders, by name. Reports and skips files that can't be read."""
    runs = {}
    paths = sorted(path for folder in folders for path in folder.rglob("config.json"))
    found = {path.parent for path in paths}
    for path in paths:
        folder = path.parent
        # a checkpoint and an export have a copy of config.json
        if folder.name.startswith("checkpoint") or not found.isdisjoint(folder.parents):
            continue
        try:
            config = json.loads(path.read_text(encoding="utf-8"))
            if "settings" not in config:  # the config.json of a pretrained model
                continue
            lines = read_lines(folder / "metrics.jsonl")
            times = [file.stat().st_mtime for file in (path, *folder.glob("metrics.jsonl"))]
            settings = dict(config["settings"])
            runs[folder.resolve()] = Run(folder, times[0], times[-1], settings, lines)
        except (OSError, ValueError, TypeError) as error:
            print(f"{path} can't be read: {error}", file=sys.stderr)
    return list(runs.values())


def read_lines(path: Path) -> list[dict[str, float]]:
    """The metrics in each line, empty if nothing was logged yet."""
    texts = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []
    lines = []
    for number, text in enumerate(texts, 1):
        try:
            line = json.loads(text)
            values = {name: value for name, value in line.items() if isinstance(value, int | float)}
            lines.append({"step": values.pop("step"), **values})
        except (ValueError, AttributeError, KeyError):
            print(f"{path}, line {number}: incomplete, and left out", file=sys.stderr)
    return lines


def print_table(rows: list[dict], settings: set[str], metrics: list[str]) -> None:
    """A line for each run: the settings that differ, these metrics, and the test."""
    names = ["run", "state", "step", "started"]
    for name in dict.fromkeys(name for row in rows for name in row):
        differs = len({str(row.get(name)) for row in rows}) > 1
        setting = name in settings - {"output_dir", "resume"} and differs
        if setting or name.removeprefix("best ") in metrics or name.startswith("test_"):
            names.append(name)
    table = [names]
    for row in rows:
        cells = [row.get(name) for name in names]
        texts = [f"{cell:.5g}" if isinstance(cell, float) else str(cell) for cell in cells]
        table.append(["" if text == "None" else text for text in texts])
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for line in table:
        print("  ".join(map(str.ljust, line, widths)).rstrip())


def write_csv(rows: list[dict], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, dict.fromkeys(name for row in rows for name in row))
        writer.writeheader()
        writer.writerows(rows)


def draw(runs: list[Run], metric: str, path: Path) -> None:
    """Plot this metric for all runs that have it, in one figure."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 5), layout="constrained")
    axes = figure.subplots()
    drawn = [run for run in runs if any(metric in line for line in run.lines)]
    for number, run in enumerate(drawn):
        points = [(line["step"], line[metric]) for line in run.lines if metric in line]
        color = f"C{number}" if len(drawn) <= 10 else colormaps["turbo"](number / len(drawn))
        axes.plot(*zip(*points, strict=True), marker=".", label=str(run.folder), color=color)
    axes.set(xlabel="step", ylabel=metric)
    figure.legend(loc="outside right upper")
    figure.savefig(path)


def main() -> None:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, default=[Path("runs")], metavar="FOLDER")
    parser.add_argument("--metric", default=METRIC, help=f"in table and plot (default: {METRIC})")
    parser.add_argument("--sort", metavar="METRIC", help="put the run with the best value first")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write all to a CSV file")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="plot the curves to a file")
    own = parser.parse_args()
    if missing := [str(folder) for folder in own.folders if not folder.is_dir()]:
        parser.error(f"no such folder: {', '.join(missing)}")
    runs = find_runs(own.folders)
    if not runs:
        parser.error("no run was found: the folder of a run has a config.json")
    known = {name for run in runs for line in run.lines for name in line}
    needed = {own.sort, own.metric if own.plot or own.metric != METRIC else None}
    for name in needed - known - {None}:
        choices = ", ".join(sorted(known - {"step"})) or "nothing: no run has logged anything"
        parser.error(f"no run has {name}: choose from {choices}")
    rows = [run.row([own.metric, *filter(None, [own.sort])]) for run in runs]
    if own.sort:
        order = 1 if is_lower_better(own.sort) else -1
        best = f"best {own.sort}"  # None if the run has no such value: last
        rows.sort(key=lambda row: inf if row[best] is None else order * row[best])
    print_table(rows, {name for run in runs for name in run.settings}, [own.metric, own.sort])
    try:
        if own.output:
            write_csv(rows, own.output)
        if own.plot:
            draw(runs, own.metric, own.plot)
    except (OSError, ValueError) as error:  # such as a format that matplotlib does not know
        parser.error(str(error))


if __name__ == "__main__":
    main()
