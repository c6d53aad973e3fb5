"""Texts that several processes share: each has a part of every text of a batch.

Attention alone looks at other tokens than its own: there PyTorch sends keys and values from process
to process. Everything else is computed as if the parts were texts.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from torch import Tensor

from metrics import IGNORED


def processes_per_text(accelerator: Accelerator) -> int:
    """How many processes share a text. It is 1 on one device and on the CPU."""
    grid = accelerator.parallelism_config
    return grid.cp_size if grid else 1


@contextmanager
def share_texts(
    accelerator: Accelerator, inputs: Tensor, targets: Tensor
) -> Iterator[tuple[Tensor, Tensor | None, Tensor]]:
    """This process's part of a batch: inputs, their positions in the texts, and targets.

    Forward and backward passes go inside. Positions are None where nothing is split.
    """
    sharing = processes_per_text(accelerator)
    if sharing == 1:
        yield inputs, None, targets
        return
    # each gets two pieces of one length, an early and a late one: later tokens look back at more
    length = inputs.shape[1]
    missing = -length % (2 * sharing)
    positions = torch.arange(length + missing, device=inputs.device)
    parts = [
        F.pad(inputs, (0, missing)),
        # padding has no position of its own, of which a model may have none
        positions.clamp(max=length - 1).repeat(len(inputs), 1),
        F.pad(targets, (0, missing), value=IGNORED),
    ]
    with accelerator.maybe_context_parallel(
        buffers=parts, buffer_seq_dims=[1, 1, 1], no_restore_buffers=set(parts)
    ):
        yield tuple(parts)


def gather_texts(accelerator: Accelerator, *sums: Tensor) -> list[Tensor]:
    """Sums for each text of an evaluation, over its parts, without what only pads the last batch.

    All processes call it together, each with the sums of its parts.
    """
    sharing = processes_per_text(accelerator)
    #: region gathered
    # those that share texts stand next to each other
    gathered = [accelerator.gather(parts).view(-1, sharing, len(parts)) for parts in sums]
    #: end gathered
    texts = [parts.sum(dim=1).flatten() for parts in gathered]
    state = accelerator.gradient_state
    if state.end_of_dataloader and state.remainder > 0:
        texts = [values[: state.remainder] for values in texts]
    return texts
