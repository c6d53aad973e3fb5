from itertools import islice

import torch

from bootstrap import Columns, Metrics
from train import score

#: slot measure
@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """For each conversation: mean loss per token, how many tokens count, and how many are right."""
    model.eval()
    batches = []
    for {{ task.batch }} in islice(loader, limit or None):
        values = score(model({{ task.batch.rpartition(",")[0] }}), targets)
        batches.append([part.cpu() for part in accelerator.gather_for_metrics(values)])
    losses, tokens, right = map(torch.cat, zip(*batches, strict=True))
    return {"loss": losses / tokens, "tokens": tokens, "right": right, "exact": right == tokens}


def summarize(columns: Columns) -> Metrics:
    """The metrics of these samples: each token counts the same for the loss and the accuracy."""
    tokens = columns["tokens"].sum()
    return {
        "loss": float((columns["loss"] * columns["tokens"]).sum() / tokens),
        "token_accuracy": float(columns["right"].sum() / tokens),
        "exact_match": float(columns["exact"].double().mean()),
    }
