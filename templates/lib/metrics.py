#: into metrics.py at classes
"""Metrics of classes, and what a line of metrics is about."""

import torch
from torch import Tensor


def confusion_matrix(predictions: torch.Tensor, labels: torch.Tensor, classes: int) -> torch.Tensor:
    """The number of samples, shape (true class, predicted class)."""
    counts = labels.new_zeros(classes, classes)
    return counts.index_put_((labels, predictions), labels.new_ones(()), accumulate=True)


def classification_scores(confusion: torch.Tensor) -> dict[str, float]:
    """Accuracy, F1 and Matthews' correlation of counts, shape (true class, predicted class).

    F1 is macro F1: the mean over the classes that occur or are predicted. The correlation is the
    one for several classes: Gorodkin 2004, https://doi.org/10.1016/j.compbiolchem.2004.09.006
    """
    counts = confusion.cpu().double()
    true, predicted, hits, total = counts.sum(1), counts.sum(0), counts.diag(), counts.sum()
    occurs = true + predicted > 0
    covariance = total * hits.sum() - true @ predicted
    spread = ((total**2 - true @ true) * (total**2 - predicted @ predicted)).sqrt()
    return {
        "accuracy": float(hits.sum() / total),
        "f1": float((2 * hits[occurs] / (true + predicted)[occurs]).mean()),
        "matthews": float(covariance / spread) if spread else 0.0,
    }


IGNORED = -100  # a target that does not count: F.cross_entropy ignores it by default


def count_tokens(targets: Tensor) -> Tensor:
    """The number of targets of each sample that count, shape (batch,)."""
    return (targets != IGNORED).sum(dim=1)


def is_step(line: dict) -> bool:
    """Whether a line of metrics.jsonl is the log line of a step, not that of an epoch."""
    return "lr" in line and not any(name.startswith(("train_", "val_", "test_")) for name in line)
