#: file when loop=complete
"""Objects that the loop calls during training. Each keeps its own state."""

#: slot classes
#: end file

from collections.abc import Iterator
from contextlib import contextmanager

#: slot classes when optimizer=schedule_free
@contextmanager
def averaged(optimizer) -> Iterator[None]:
    """Swap the averaged weights into the model, and the trained weights back afterwards.

    For the optimizers of Defazio et al. 2024, "The Road Less Scheduled",
    https://arxiv.org/abs/2405.15682.
    """
    optimizer.eval()
    try:
        yield
    finally:
        optimizer.train()
