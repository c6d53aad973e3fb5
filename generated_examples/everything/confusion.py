"""The confusion matrix: how often the model takes each class for each other."""

from pathlib import Path

import torch
from accelerate import Accelerator, PartialState
from matplotlib.figure import Figure
from matplotlib.image import imread
from torch import Tensor

from metrics import log

MOST = 40  # classes in the picture


class ConfusionPlot:
    """Keeps the labels and predictions of an evaluation, and draws how often each pair occurs."""

    def __init__(self) -> None:
        self.batches: list[tuple[Tensor, Tensor]] = []

    def clear(self) -> None:
        self.batches.clear()

    def add(self, labels: Tensor, predictions: Tensor) -> None:
        """Keep a batch, gathered from all processes."""
        self.batches.append((labels, predictions))

    def count(self, classes: int = 0) -> Tensor:
        """Numbers of samples, shape (true class, predicted class). 0: up to the last one found."""
        parts = zip(*self.batches, strict=True)
        labels, predictions = (torch.cat(part).cpu() for part in parts)
        classes = classes or 1 + int(torch.cat([labels, predictions]).max())
        return (labels * classes + predictions).bincount(minlength=classes**2).view(classes, -1)

    def draw(self, path: Path, names: list[str] | None = None) -> None:
        """Draw the matrix. If that fails, the run continues without it.

        Without names, classes are numbers.
        """
        if not PartialState().is_main_process:
            return
        try:
            self.draw_counts(path, names)
        except Exception as error:  # noqa: BLE001, plotting must never end a run
            log(f"{path} was not drawn: {error!r}")

    def draw_counts(self, path: Path, names: list[str] | None) -> None:
        counts = self.count(len(names or []))
        names = names or [str(number) for number in range(len(counts))]
        errors = counts.sum(dim=1) - counts.diagonal()
        shown = sorted(errors.argsort(descending=True, stable=True)[:MOST].tolist())
        counts, names = counts[shown][:, shown], [names[number] for number in shown]
        figure = Figure(figsize=[3 + 0.4 * len(names)] * 2, layout="constrained")
        axes = figure.subplots()
        shares = counts / counts.sum(dim=1, keepdim=True).clamp(min=1)
        axes.imshow(shares.numpy(), cmap="Blues", vmin=0, vmax=2)  # not too dark for numbers
        for row, column in counts.nonzero().tolist():
            axes.text(column, row, int(counts[row, column]), ha="center", va="center")
        axes.set_xticks(range(len(names)), names, rotation=90)
        axes.set_yticks(range(len(names)), names)
        axes.set(xlabel="prediction", ylabel="label")
        figure.savefig(path)

    def send(self, accelerator: Accelerator, path: Path, step: int) -> None:
        """Send the picture to the tracker, on the main process."""
        if accelerator.is_main_process and path.exists():
            pixels = imread(path)[None, :, :, :3]  # without transparency
            tracker = accelerator.get_tracker("tensorboard")
            tracker.log_images({"confusion": pixels}, step=step, dataformats="NHWC")
