from itertools import islice

import torch
from torch import Tensor

from bootstrap import OUTCOMES, Columns, Metrics
from metrics import segmentation_scores
from train import score

#: slot measure
@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """The loss of each image, and its pixels as count_pixels() counts them."""
    model.eval()
    batches = []
    for images, masks in islice(loader, limit or None):
        values = score(model(images), masks)
        batches.append([part.cpu() for part in accelerator.gather_for_metrics(values)])
    parts = map(torch.cat, zip(*batches, strict=True))
    return dict(zip(("loss", "pixels"), parts, strict=True))


def summarize(columns: Columns) -> Metrics:
    """The metrics of these images."""
    scores = segmentation_scores(columns["pixels"].sum(dim=0))
    return {"loss": float(columns["loss"].mean()), **scores}


def count_classes(columns: Columns) -> Tensor:
    """The pixels of each class that are right, missed, and wrong, shape (classes, 3)."""
    right, true, predicted = columns["pixels"].sum(dim=0)
    return torch.stack([right, true - right, predicted - right], dim=1)

#: slot table
names = [str(label) for label in range(columns["pixels"].shape[2])]
right, true, _ = columns["pixels"].sum(dim=2).T
table["pixels"], table["right"] = true.tolist(), right.tolist()

#: slot class_scores
for row in found.values():
    row["iou"] = row["right"] / max(sum(row[name] for name in OUTCOMES), 1)
