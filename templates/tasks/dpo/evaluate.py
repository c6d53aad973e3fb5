from itertools import islice

import torch

from bootstrap import Columns, Metrics
from metrics import count_tokens
from reference import ROUNDING
from train import score

#: slot measure
@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """The loss of each pair, whether the preferred answer has the higher reward, and the margin."""
    model.eval()
    batches = []
    for {{ task.batch }} in islice(loader, limit or None):
        losses, margins = score(model, {{ task.batch }})
        values = losses, margins > ROUNDING, margins, count_tokens(targets).sum(dim=1)
        batches.append([part.cpu() for part in accelerator.gather_for_metrics(values)])
    parts = map(torch.cat, zip(*batches, strict=True))
    return dict(zip(("loss", "right", "margin", "tokens"), parts, strict=True))


def summarize(columns: Columns) -> Metrics:
    """The metrics of these pairs."""
    return {
        "loss": float(columns["loss"].mean()),
        "reward_accuracy": float(columns["right"].double().mean()),
        "reward_margin": float(columns["margin"].mean()),
    }
