#: into contrast.py at losses
"""Losses that compare each sample with those of all processes."""

import torch
from accelerate import Accelerator
from torch import Tensor


class Gather(torch.autograd.Function):
    """The vectors of all processes, in their order.

    A vector is part of the losses of all processes, so its gradient is the sum over them:
    accelerator.gather has no gradient.
    """

    @staticmethod
    def forward(ctx, vectors: Tensor, accelerator: Accelerator) -> Tensor:
        ctx.accelerator = accelerator
        return accelerator.gather(vectors)

    @staticmethod
    def backward(ctx, gradient: Tensor) -> tuple[Tensor, None]:
        accelerator = ctx.accelerator
        own = accelerator.reduce(gradient, "sum").chunk(accelerator.num_processes)
        return own[accelerator.process_index], None


def contrast(own: Tensor, others: Tensor, temperature: float) -> Tensor:
    """The loss of each anchor: how unlikely its own similarity is among the others (InfoNCE).

    Van den Oord and others 2018, https://arxiv.org/abs/1807.03748, formula 4
    """
    similarities = torch.cat([own, others], dim=1) / temperature
    return similarities.logsumexp(dim=1) - similarities[:, 0]
