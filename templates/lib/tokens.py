#: into metrics.py at classes
"""Targets that count."""

from torch import Tensor

IGNORED = -100  # a target that does not count: F.cross_entropy ignores it by default


def count_tokens(targets: Tensor) -> Tensor:
    """The number of targets of each sample that count, shape (batch,)."""
    return (targets != IGNORED).sum(dim=1)
