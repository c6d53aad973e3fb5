from itertools import islice

import torch

from bootstrap import Columns, Metrics
from metrics import count_tokens
from train import compute_loss

#: slot measure
@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """The mean loss per masked token of each block, how many there are, and how many are right."""
    model.eval()
    batches = []
    for inputs, mask, targets in islice(loader, limit or None):
        logits = model(inputs, mask)
        losses = compute_loss(logits, targets).sum(dim=1)
        right = (logits.argmax(dim=-1) == targets).sum(dim=1)
        values = (losses, count_tokens(targets), right)
        batches.append([part.cpu() for part in accelerator.gather_for_metrics(values)])
    losses, tokens, right = map(torch.cat, zip(*batches, strict=True))
    return {"loss": losses / tokens, "tokens": tokens, "right": right}


def summarize(columns: Columns) -> Metrics:
    """The metrics of these samples: each masked token counts the same."""
    tokens = columns["tokens"].sum()
    loss = (columns["loss"] * columns["tokens"]).sum() / tokens
    accuracy = columns["right"].sum() / tokens
    return {"loss": float(loss), "perplexity": float(loss.exp()), "accuracy": float(accuracy)}
