import csv
from pathlib import Path

import torch
from checkpoint import writing

#: slot classes
class PredictionsFile:
    """What the last evaluation predicted, as CSV: a line for each sample, in the order of the set.

    Batches come here gathered from all processes, in their order and without padding.
    """

    def __init__(self) -> None:
        self.batches: list[tuple[torch.Tensor, torch.Tensor]] = []

    def clear(self) -> None:
        self.batches.clear()

    def add(self, labels: torch.Tensor, predictions: torch.Tensor) -> None:
        self.batches.append((labels, predictions))

    def write(self, path: Path) -> None:
        """Write index, label and prediction of each sample. The main process calls it alone."""
        columns = [torch.cat(column).tolist() for column in zip(*self.batches, strict=True)]
        with writing(path), path.open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["index", "label", "prediction"])
            rows.writerows(zip(range(len(columns[0])), *columns, strict=True))
