"""What a model gets wrong: all samples as a table, the worst first, and a picture."""

import csv
from pathlib import Path

import torch
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
    wrong = [row for row, name in enumerate(table["label"]) if name != table["prediction"][row]]
    errors = {name: [values[row] for row in wrong] for name, values in table.items()}
    write_table(folder / "errors.csv", errors)


MOST = 40  # maximum number of classes in a picture


def find_worst(errors: Tensor) -> list[int]:
    """The classes with the most errors, as many as a picture shows, in their own order."""
    return sorted(errors.argsort(descending=True, stable=True)[:MOST].tolist())


def draw_counts(path: Path, counts: Tensor, rows: list[str], columns: list[str]) -> None:
    """A table of counts: a larger share of the row is darker."""
    size = (3 + 0.4 * len(columns), 3 + 0.4 * len(rows))
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots()
    shares = counts / counts.sum(dim=1, keepdim=True).clamp(min=1)
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=2)  # not too dark for numbers
    for row, column in counts.nonzero().tolist():
        axes.text(column, row, int(counts[row, column]), ha="center", va="center")
    axes.set_xticks(range(len(columns)), columns, rotation=90)
    axes.set_yticks(range(len(rows)), rows)
    axes.set(xlabel="prediction", ylabel="label")
    save(figure, path)


def count_pairs(labels: Tensor, predictions: Tensor, classes: int) -> Tensor:
    """The confusion matrix: numbers of samples, shape (true class, predicted class)."""
    counts = torch.zeros(classes, classes, dtype=torch.long)
    return counts.index_put_((labels, predictions), torch.tensor(1), accumulate=True)


def write_confusion(folder: Path, counts: Tensor, names: list[str]) -> None:
    """The confusion matrix as a table and as a picture."""
    rows = {name: counts[:, column].tolist() for column, name in enumerate(names)}
    write_table(folder / "confusion.csv", {"label": names, **rows})
    worst = find_worst(counts.sum(dim=1) - counts.diagonal())
    shown = [names[row] for row in worst]
    draw_counts(folder / "confusion.png", counts[worst][:, worst], shown, shown)


def draw_images(path: Path, images: list[Tensor], captions: list[str]) -> None:
    """The images with the highest losses as a grid, each with "truth | prediction"."""
    figure = Figure(figsize=(10, 10), layout="constrained")
    for place, (image, caption) in enumerate(zip(images, captions, strict=True), start=1):
        axes = figure.add_subplot(5, 5, place)
        pixels = image / 255 if image.dtype == torch.uint8 else image.clamp(0, 1)
        axes.imshow(pixels.permute(1, 2, 0).expand(-1, -1, 3))
        axes.set_title(caption[:40].replace("$", r"\$"), fontsize=8)
        axes.set_axis_off()
    save(figure, path)


def save(figure: Figure, path: Path) -> None:
    figure.savefig(path, format="png")
