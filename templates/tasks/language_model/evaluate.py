from itertools import islice

import torch

from bootstrap import Columns, Metrics
from metrics import count_tokens
from train import compute_loss

#: slot measure
@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """The mean loss per token of each block of text, and how many tokens it has."""
    model.eval()
    batches = []
    for inputs, targets in islice(loader, limit or None):
        values = (compute_loss(model(inputs), targets).sum(dim=1), count_tokens(targets))
        batches.append([part.cpu() for part in accelerator.gather_for_metrics(values)])
    losses, tokens = map(torch.cat, zip(*batches, strict=True))
    return {"loss": losses / tokens, "tokens": tokens}


def summarize(columns: Columns) -> Metrics:
    """The metrics of these samples: each token counts the same."""
    loss = (columns["loss"] * columns["tokens"]).sum() / columns["tokens"].sum()
    return {"loss": float(loss), "perplexity": float(loss.exp())}
