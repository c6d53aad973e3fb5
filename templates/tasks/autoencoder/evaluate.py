from itertools import islice

import torch

from bootstrap import Columns, Metrics
from train import compute_loss

#: slot measure
@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """The loss of each image."""
    model.eval()
    losses = []
    for {{ task.batch }} in islice(loader, limit or None):
        losses.append(accelerator.gather_for_metrics(compute_loss(model(images), images)).cpu())
    return {"loss": torch.cat(losses)}


def summarize(columns: Columns) -> Metrics:
    """The metrics of these samples."""
    losses = columns["loss"]
    return {"loss": float(losses.mean()), "psnr": float(-10 * losses.log10().mean())}
