from torch import Tensor

from lib.metrics import IGNORED

#: slot classes
def count_tokens(targets: Tensor) -> Tensor:
    """The number of targets of each answer that count, shape (batch, {{ task.rows }})."""
    return (targets != IGNORED).sum(dim=-1)
