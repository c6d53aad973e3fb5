#: file
"""{{ task.contrasts }}"""

import torch
from torch import Tensor

from lib.contrast import Gather, contrast

ROUNDING = 1e-6  # the similarity of a pair differs by less than this between batches


#: slot embed


#: slot losses


#: slot ranks
#: end file

from torch import Tensor, nn

#: slot embed without image_texts
def embed(model: nn.Module, tokens: Tensor, mask: Tensor) -> Tensor:
    """The vectors of rows of texts, shape (batch, texts, width), in one pass."""
    return model(tokens.flatten(0, 1), mask.flatten(0, 1)).unflatten(0, tokens.shape[:2])

#: slot ranks without image_texts
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

#: slot ranks with image_texts
def find_rivals(numbers: Tensor, others: Tensor) -> Tensor:
    """Which rows are negatives of which, shape (rows, other rows): they share no image or text.

    Both arguments are numbers of images and texts, shape (rows, 2).
    """
    return (numbers.unsqueeze(1) != others).all(dim=2)


def rank_texts(vectors: Tensor, numbers: Tensor) -> tuple[Tensor, Tensor]:
    """The loss of each row, and the rank of the first text that belongs to its image, from 1.

    `vectors` have the shape (rows, 2, width), and `numbers` (rows, 2): images, then texts. With the
    columns of both swapped, texts look for images. Each text of the set counts once. If an image
    has several texts, the closest one counts. In a tie, a wrong text comes first.
    """
    texts, places = numbers[:, 1].unique(return_inverse=True)
    candidates = vectors.new_empty(len(texts), vectors.shape[2])
    candidates[places] = vectors[:, 1]
    scale = vectors[0, 0].square().sum()  # all vectors have the same length
    losses, ranks = [], []
    for part in range(0, len(vectors), 256):  # all at once would take memory for its square
        some, known = vectors[part : part + 256], numbers[part : part + 256]
        same = (known[:, :1] == numbers[:, 0]).int()
        belongs = same.new_zeros(len(some), len(texts))
        belongs = belongs.scatter_reduce(1, places.expand_as(same), same, "amax").bool()
        similarities = some[:, 0] @ candidates.T
        own = (some[:, 0] * some[:, 1]).sum(dim=1, keepdim=True)
        others = similarities.masked_fill(belongs, -torch.inf)
        closest = similarities.masked_fill(~belongs, -torch.inf).amax(dim=1, keepdim=True)
        losses.append(contrast(own, others, temperature=1))  # part of the vectors
        ranks.append(1 + (others > closest - ROUNDING * scale).sum(dim=1))
    return torch.cat(losses), torch.cat(ranks)


def rank_pairs(vectors: Tensor, numbers: Tensor) -> tuple[Tensor, Tensor]:
    """The loss of each row, shape (rows,), and the ranks of texts and of images, (rows, 2)."""
    found = [rank_texts(vectors, numbers), rank_texts(vectors.flip(1), numbers.flip(1))]
    losses, ranks = (torch.stack(both, dim=1) for both in zip(*found, strict=True))
    return losses.mean(dim=1), ranks
