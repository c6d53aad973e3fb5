from itertools import islice

import torch
from torch import Tensor

from bootstrap import Columns, Metrics
from data import load_sentences, tag_names
from metrics import IGNORED, count_tokens, entity_scores, find_entities
from train import compute_loss

#: slot measure
ENTITIES = ("right", "predicted", "entities")


@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """The mean loss per word of each sentence, its words, and what count_types() returns."""
    model.eval()
    batches = []
    for inputs, mask, targets in islice(loader, limit or None):
        logits = model(inputs, mask)
        losses = compute_loss(logits, targets).sum(dim=1)
        counts = count_types(logits.argmax(dim=-1), targets, logits.shape[-1] // 2)
        values = (losses, count_tokens(targets), counts)
        batches.append([part.cpu() for part in accelerator.gather_for_metrics(values)])
    losses, words, counts = map(torch.cat, zip(*batches, strict=True))
    return {"loss": losses / words, "tokens": words, "counts": counts}


def count_types(predictions: Tensor, targets: Tensor, types: int) -> Tensor:
    """For each sentence, the entities that are right, predicted, and in the data.

    For each type, so the shape is (batch, 3, types). They are those of count_entities().
    """
    counts = torch.zeros(len(targets), len(ENTITIES), types, dtype=torch.long)
    for row, predicted, actual in zip(counts, predictions.cpu(), targets.cpu(), strict=True):
        words = actual != IGNORED
        found, known = (find_entities(tags[words].tolist()) for tags in (predicted, actual))
        for place, entities in enumerate((found & known, found, known)):
            for kind, *_ in entities:
                row[place, kind] += 1
    return counts.to(targets.device)


def summarize(columns: Columns) -> Metrics:
    """The metrics of these samples: each word counts the same for the loss, and each entity."""
    loss = (columns["loss"] * columns["tokens"]).sum() / columns["tokens"].sum()
    return {"loss": float(loss), **entity_scores(columns["counts"].sum(dim=(0, 2)))}


def count_classes(columns: Columns) -> Tensor:
    """The entities of each type that are right, missed, and wrong, shape (types, 3)."""
    right, predicted, known = columns["counts"].sum(dim=0)
    return torch.stack([right, known - right, predicted - right], dim=1)

#: slot table
names = [name[2:] for name in tag_names(config)[1::2]]
table |= dict(zip(ENTITIES, columns["counts"].sum(dim=2).T.tolist(), strict=True))
sentences = load_sentences(config)[SPLITS.index(given.split)][: len(columns["loss"])]
table["sentence"] = [" ".join(words) for words, _ in sentences]
