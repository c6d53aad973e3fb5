#: file
"""What a model gets wrong: all samples as a table, the worst first, and a picture."""

import csv
from pathlib import Path

from matplotlib.figure import Figure
from torch import Tensor


def write_table(path: Path, table: dict[str, list]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(table)
        rows.writerows(zip(*table.values(), strict=True))


def write_samples(folder: Path, table: dict[str, list], losses: Tensor) -> None:
    """A row for each sample, the highest loss first."""
    order = losses.argsort(descending=True, stable=True).tolist()
    table = {name: [values[row] for row in order] for name, values in table.items()}
    write_table(folder / "samples.csv", table)
    #: slot errors


#: region draw
def draw_losses(path: Path, losses: Tensor) -> None:
    """A histogram of the losses."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    axes.hist(losses[losses.isfinite()], bins=50)
    axes.set(xlabel="loss of a sample", ylabel="samples", yscale="symlog")
    save(figure, path)


#: end draw
#: slot draw_functions
def save(figure: Figure, path: Path) -> None:
    figure.savefig(path, format="png")
