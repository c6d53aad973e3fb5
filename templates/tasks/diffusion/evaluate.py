from itertools import islice

import torch

from bootstrap import Columns, Metrics
from data import Noised
from train import compute_loss

#: slot samples
if split == "train":
    data = Noised(data)

#: slot measure
@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """The loss of each image."""
    model.eval()
    losses = []
    for {{ task.batch }} in islice(loader, limit or None):
        found = compute_loss(model, {{ task.batch }})
        losses.append(accelerator.gather_for_metrics(found).cpu())
    return {"loss": torch.cat(losses)}


def summarize(columns: Columns) -> Metrics:
    """The metric that is a mean over these samples."""
    return {"loss": float(columns["loss"].mean())}
