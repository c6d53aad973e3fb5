"""The similarities of texts on all processes, and which pairs are negatives."""

import torch
from accelerate import Accelerator
from torch import Tensor, nn

ROUNDING = 1e-6  # the similarity of a pair differs by less than this between batches


def embed(model: nn.Module, tokens: Tensor, mask: Tensor) -> Tensor:
    """The vectors of rows of texts, shape (batch, texts, width), in one pass."""
    return model(tokens.flatten(0, 1), mask.flatten(0, 1)).unflatten(0, tokens.shape[:2])


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


def find_rivals(numbers: Tensor, others: Tensor) -> Tensor:
    """Which texts of rows are negatives of which anchors, shape (anchors, rows, texts - 1).

    Both arguments are numbers of texts: `numbers` of the anchors' rows, (anchors, texts), and
    `others` of all rows, (rows, texts). The anchor itself, its positive, and the positives of other
    rows with the same anchor are not negatives. One gap remains: where such a positive is also in a
    row of another anchor, it is a negative.
    """
    anchors, positives = numbers[:, 0, None, None], numbers[:, 1, None, None]
    rivals = (others[:, 1:] != anchors) & (others[:, 1:] != positives)
    rivals[:, :, 0] &= others[:, 0] != numbers[:, :1]
    return rivals


def contrast(own: Tensor, others: Tensor, temperature: float) -> Tensor:
    """The loss of each anchor: how unlikely its own similarity is among the others (InfoNCE).

    Van den Oord and others 2018, https://arxiv.org/abs/1807.03748, formula 4
    """
    similarities = torch.cat([own, others], dim=1) / temperature
    return similarities.logsumexp(dim=1) - similarities[:, 0]


def rank_positives(vectors: Tensor, numbers: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    """The loss of each row, and the rank of its positive among all texts of the set, from 1.

    `vectors` have the shape (rows, texts, width), and `numbers` (rows, texts). All positives and
    negatives compete, each text once. In a tie, the positive comes last.
    """
    texts, places = numbers[:, 1:].flatten().unique(return_inverse=True)
    candidates = vectors.new_empty(len(texts), vectors.shape[2])
    candidates[places] = vectors[:, 1:].flatten(0, 1)
    losses, ranks = [], []
    for part in range(0, len(vectors), 256):  # all at once would take memory for its square
        some, known = vectors[part : part + 256], numbers[part : part + 256]
        rivals = find_rivals(known, numbers).flatten(1).int()
        where = places.expand_as(rivals)
        rivals = rivals.new_ones(len(some), len(texts)).scatter_reduce(1, where, rivals, "amin")
        own = (some[:, 0] * some[:, 1]).sum(dim=1, keepdim=True)
        others = (some[:, 0] @ candidates.T).masked_fill(rivals == 0, -torch.inf)
        losses.append(contrast(own, others, temperature))
        ranks.append(1 + (others > own - ROUNDING).sum(dim=1))
    return torch.cat(losses), torch.cat(ranks)
