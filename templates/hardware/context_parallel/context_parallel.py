#: file
"""Context parallelism: several processes share each text, and each has a part of it.

Only attention looks at other tokens: PyTorch exchanges its keys and values between processes.
Everything else treats each part as a text of its own.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from torch import Tensor

from metrics import IGNORED


def processes_per_text(accelerator: Accelerator) -> int:
    """How many processes share a text: 1 on one device and on the CPU."""
    grid = accelerator.parallelism_config
    return grid.cp_size if grid else 1


@contextmanager
def share_texts(
    accelerator: Accelerator, inputs: Tensor, targets: Tensor
) -> Iterator[tuple[Tensor, Tensor | None, Tensor]]:
    """This process's part of a batch: inputs, their positions in the texts, and targets.

    Forward and backward passes go inside. Positions are None if texts are whole.
    """
    sharing = processes_per_text(accelerator)
    if sharing == 1:
        yield inputs, None, targets
        return
    # each gets an early and a late chunk of the same length, because late tokens attend to more
    length = inputs.shape[1]
    missing = -length % (2 * sharing)
    positions = torch.arange(length + missing, device=inputs.device)
    parts = [
        F.pad(inputs, (0, missing)),
        # padding repeats the last position: the model may not have higher ones
        positions.clamp(max=length - 1).repeat(len(inputs), 1),
        F.pad(targets, (0, missing), value=IGNORED),
    ]
    with accelerator.maybe_context_parallel(
        buffers=parts, buffer_seq_dims=[1, 1, 1], no_restore_buffers=set(parts)
    ):
        yield tuple(parts)


def gather_texts(accelerator: Accelerator, *sums: Tensor) -> list[Tensor]:
    """Sum the parts of each text of an evaluation, and drop the padding of the last batch.

    Call it on all processes, on each with the sums of its parts.
    """
    sharing = processes_per_text(accelerator)
    #: region gathered
    # processes that share a text have neighboring ranks
    gathered = [accelerator.gather(parts).view(-1, sharing, len(parts)) for parts in sums]
    #: end gathered
    texts = [parts.sum(dim=1).flatten() for parts in gathered]
    state = accelerator.gradient_state
    if state.end_of_dataloader and state.remainder > 0:
        texts = [values[: state.remainder] for values in texts]
    return texts
