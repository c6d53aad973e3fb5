import csv
from bootstrap import Columns, Metrics, compare, find_intervals, is_same_data
from itertools import islice

import torch
from metrics import detection_scores
from train import score

#: slot measure
@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """The loss of each image, its detections as judge() judges them, and its objects per class.

    `target` are the objects.
    """
    model.eval()
    batches = []
    for images, targets in islice(loader, limit or None):
        values = accelerator.gather_for_metrics(score(model(images), targets))
        batches.append([part.cpu() for part in values])
    parts = map(torch.cat, zip(*batches, strict=True))
    return dict(zip(("loss", "judged", "target"), parts, strict=True))


def summarize(columns: Columns) -> Metrics:
    """The metrics of these images."""
    scores = detection_scores(columns["judged"], columns["target"])
    return {"loss": float(columns["loss"].mean()), **scores}

#: slot table
del table["judged"], table["target"]
table["objects"] = columns["target"][order].sum(dim=1).tolist()
table["found"] = (columns["judged"][order, :, 2] == 1).sum(dim=1).tolist()  # with an IoU of 0.5
