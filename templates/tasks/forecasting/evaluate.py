from itertools import islice

import torch

from bootstrap import Columns, Metrics
from metrics import forecast_scores
from train import score

#: slot measure
#: region counts
COUNTS = ("error", "known", "scaled_error", "with_naive_error")
#: end counts


@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """The loss of each window, the mean of its targets, and what count_errors() returns."""
    model.eval()
    batches = []
    for contexts, targets, scales in islice(loader, limit or None):
        losses, counts = score(model(contexts), targets, scales)
        values = (losses, counts, targets.nanmean(dim=1))
        batches.append([part.cpu() for part in accelerator.gather_for_metrics(values)])
    losses, counts, targets = map(torch.cat, zip(*batches, strict=True))
    named = dict(zip(COUNTS, counts.unbind(dim=1), strict=True))
    return {"target": targets, "loss": losses, **named}


def summarize(columns: Columns) -> Metrics:
    """The metrics of these windows."""
    counts = torch.stack([columns[name].sum() for name in COUNTS])
    return {"loss": float(columns["loss"].mean()), **forecast_scores(counts)}

#: replace counts when loss=quantiles
COUNTS = ("error", "known", "scaled_error", "with_naive_error", "inside")
