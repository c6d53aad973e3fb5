"""How close views of images are: those of all processes, and what competes with what."""

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


def compare_views(vectors: Tensor, others: Tensor, places: Tensor) -> Tensor:
    """The loss of each image: each view has to find the other one among all views (NT-Xent).

    `vectors` are the views of these images, (batch, 2, width), and `others` those of all images,
    (images, 2, width). `places` are the indices of the former in the latter.
    Chen and others 2020, https://arxiv.org/abs/2002.05709,
    formula 1
    """
    own = (vectors[:, 0] * vectors[:, 1]).sum(dim=1, keepdim=True)
    others = others.transpose(0, 1)
    same = places.unsqueeze(1) == torch.arange(others.shape[1], device=places.device)
    losses = []
    for view in (0, 1):
        similarities = (vectors[:, view] @ others.transpose(1, 2)).masked_fill(same, -torch.inf)
        # (2, batch, images) to the views of all other images, in one row
        losses.append(contrast(own, torch.cat([*similarities], dim=1), temperature=1))
    return torch.stack(losses).mean(dim=0)
