from torch import Tensor

#: slot classes
IGNORED = -100  # a target that does not count: F.cross_entropy ignores it by default


def count_tokens(targets: Tensor) -> Tensor:
    """The number of targets of each answer that count, shape (batch, 2)."""
    return (targets != IGNORED).sum(dim=-1)
