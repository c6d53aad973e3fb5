import csv
from pathlib import Path

import torch

#: slot classes
class PredictionsFile:
    """The predictions of the last evaluation as CSV, one line per sample, in the order of the set.

    add() gets batches that are gathered from all processes, in order and without padding.
    """

    def __init__(self) -> None:
        self.batches: list[tuple[torch.Tensor, torch.Tensor]] = []

    def clear(self) -> None:
        self.batches.clear()

    def add(self, labels: torch.Tensor, predictions: torch.Tensor) -> None:
        self.batches.append((labels, predictions))

    def write(self, path: Path) -> None:
        """Write index, label and prediction of each sample. Only the main process calls it."""
        columns = [torch.cat(column).tolist() for column in zip(*self.batches, strict=True)]
        with path.open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["index", "label", "prediction"])
            rows.writerows(zip(range(len(columns[0])), *columns, strict=True))
