import csv
from bootstrap import Columns, Metrics, compare, find_intervals, is_same_data
from itertools import islice

import torch
from metrics import segmentation_scores
from train import score

#: slot measure
COUNTS = ("right", "true", "predicted")


@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """The loss of each image, and the right, true and predicted pixels of each class."""
    model.eval()
    batches = []
    for images, masks in islice(loader, limit or None):
        values = score(model(images), masks)
        batches.append([part.cpu() for part in accelerator.gather_for_metrics(values)])
    losses, counts = map(torch.cat, zip(*batches, strict=True))
    columns = {"loss": losses}
    for label in range(counts.shape[2]):
        columns |= {f"{name}_{label}": counts[:, i, label] for i, name in enumerate(COUNTS)}
    return columns


def summarize(columns: Columns) -> Metrics:
    """The metrics of these images."""
    classes = (len(columns) - 1) // len(COUNTS)
    counts = [[columns[f"{name}_{label}"].sum() for label in range(classes)] for name in COUNTS]
    return {"loss": float(columns["loss"].mean()), **segmentation_scores(torch.tensor(counts))}
