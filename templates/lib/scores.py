#: into scores.py at functions
"""Metrics for several labels per sample."""

import torch
from torch import Tensor


def label_scores(logits: Tensor, labels: Tensor) -> dict[str, float]:
    """Macro F1 and average precision of a whole set, whose samples are rows and labels columns.

    For F1, a label is predicted if its probability is above 0.5. Macro is the mean over the labels:
    for F1 over those that occur or are predicted, for the average precision over those that occur.
    If these are all labels, both match scikit-learn with average="macro".
    """
    occurs, predicted = labels.bool(), logits > 0
    hits = (occurs & predicted).sum(0).double()
    sizes = occurs.sum(0) + predicted.sum(0)
    f1 = 2 * hits[sizes > 0] / sizes[sizes > 0]
    columns = occurs.any(0).nonzero().flatten().tolist()
    precisions = [average_precision(logits[:, column], occurs[:, column]) for column in columns]
    return {
        "f1": float(f1.mean()) if len(f1) else 0.0,
        "average_precision": sum(precisions) / max(len(precisions), 1),
    }


def average_precision(scores: Tensor, occurs: Tensor) -> float:
    """The average precision of one label. Both arguments have the shape (samples,).

    Samples are ranked by their scores, and those with equal scores share a rank. The formula is
    that of average_precision_score in scikit-learn: the precision at each increase of the recall,
    weighted by the increase.
    """
    scores, order = scores.sort(descending=True)
    hits = occurs[order].cumsum(0).double()
    is_last = torch.cat([scores.diff() != 0, torch.tensor([True])])  # of equal scores
    hits, ranks = hits[is_last], is_last.nonzero().flatten() + 1
    gained = hits.diff(prepend=torch.zeros(1).double())
    return float((gained * hits / ranks).sum() / hits[-1])
