"""How often each class is taken for each other one."""

from pathlib import Path

import torch
from matplotlib.figure import Figure
from torch import Tensor

from files import replacing


def count_pairs(labels: Tensor, predictions: Tensor, classes: int) -> Tensor:
    """The confusion matrix: numbers of samples, shape (true class, predicted class)."""
    counts = torch.zeros(classes, classes, dtype=torch.long)
    return counts.index_put_((labels, predictions), torch.tensor(1), accumulate=True)


def draw_pairs(path: Path, counts: Tensor, names: list[str]) -> None:
    """The confusion matrix as a picture: the larger the share of its true class, the darker."""
    side = 3 + 0.4 * len(names)
    figure = Figure(figsize=(side, side), layout="constrained")
    axes = figure.subplots()
    shares = counts / counts.sum(dim=1, keepdim=True).clamp(min=1)
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=2)  # not too dark for numbers
    for row, column in counts.nonzero().tolist():
        axes.text(column, row, int(counts[row, column]), ha="center", va="center")
    axes.set(xlabel="prediction", ylabel="label")
    axes.set_xticks(range(len(names)), names, rotation=90)
    axes.set_yticks(range(len(names)), names)
    with replacing(path) as scratch:
        figure.savefig(scratch, format="png")
