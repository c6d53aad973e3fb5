from itertools import islice

import torch

from bootstrap import Columns, Metrics
from train import compute_loss

#: slot measure
@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """The values of each sample that summarize() averages, as in evaluate() of train.py."""
    model.eval()
    batches = []
    for inputs, targets in islice(loader, limit or None):
        outputs = model(inputs)
        values = (compute_loss(outputs, targets), (outputs - targets).abs().mean(dim=1))
        batches.append([part.cpu() for part in accelerator.gather_for_metrics(values)])
    losses, errors = map(torch.cat, zip(*batches, strict=True))
    return {"loss": losses, "error": errors}


def summarize(columns: Columns) -> Metrics:
    """The metrics of these samples, by the names that evaluate() gives them."""
    return {name: float(columns[name].mean()) for name in ("loss", "error")}
