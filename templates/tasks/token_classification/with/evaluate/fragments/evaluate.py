import csv
from bootstrap import Columns, Metrics, compare, find_intervals, is_same_data
from itertools import islice

import torch
from metrics import count_entities, count_tokens, entity_scores
from train import compute_loss

#: slot measure
@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """The mean loss per word of each sentence, its words, and its entities.

    These are counted: how many are right, how many are predicted, and how many it has.
    """
    model.eval()
    batches = []
    for inputs, mask, targets in islice(loader, limit or None):
        logits = model(inputs, mask)
        losses = compute_loss(logits, targets).sum(dim=1)
        counts = count_entities(logits.argmax(dim=-1), targets)
        values = (losses, count_tokens(targets), counts)
        batches.append([part.cpu() for part in accelerator.gather_for_metrics(values)])
    losses, words, counts = map(torch.cat, zip(*batches, strict=True))
    entities = dict(zip(("right", "predicted", "entities"), counts.unbind(dim=1), strict=True))
    return {"loss": losses / words, "tokens": words, **entities}


def summarize(columns: Columns) -> Metrics:
    """The metrics of these samples: each word counts the same for the loss, and each entity."""
    loss = (columns["loss"] * columns["tokens"]).sum() / columns["tokens"].sum()
    counts = [columns[name].sum() for name in ("right", "predicted", "entities")]
    return {"loss": float(loss), **entity_scores(torch.stack(counts))}
