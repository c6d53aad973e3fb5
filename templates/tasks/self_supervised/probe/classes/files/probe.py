"""How well features tell classes apart: two probes, which know some training images alone."""

import torch
import torch.nn.functional as F
from torch import Tensor

NEIGHBOURS = 5  # of an image, which vote for its class
PENALTY = 1.0  # on the squared weights of the linear probe
ROUNDING = 1e-6  # the cosine of the same pair differs by less from batch to batch


def find_new(known: Tensor) -> Tensor:
    """The images that are measured: the new ones. A set that has none is measured on itself."""
    return ~known | known.all()


def find_right(features: Tensor, labels: Tensor, known: Tensor) -> dict[str, Tensor]:
    """Whether each probe finds the class of the new images, shape (images,).

    Features have the shape (all images, width), labels and `known` (all images,). Only features and
    labels of known images are fitted.
    """
    new = find_new(known)
    # on the CPU, because not every device has double precision
    some, others = features[known].cpu().double(), features[new].cpu().double()
    classes, numbers = labels[known].cpu().unique(return_inverse=True)
    if not len(classes):  # the probes know nothing
        return dict.fromkeys(("knn", "linear"), torch.zeros(len(others), dtype=torch.bool))
    targets = F.one_hot(numbers).double()
    found = {"knn": find_neighbours(some, targets, others), "linear": fit(some, targets, others)}
    expected = labels[new].cpu()
    return {name: classes[scores.argmax(dim=1)] == expected for name, scores in found.items()}


def find_neighbours(known: Tensor, targets: Tensor, features: Tensor) -> Tensor:
    """The votes for each class, (images, classes), of the known images with the highest cosines.

    All that are as close as the last one vote, too: what rounding says does not count.
    """
    known, votes = F.normalize(known, dim=1), []
    for part in F.normalize(features, dim=1).split(1024):  # not all at once: that takes memory
        cosines = part @ known.T
        least = cosines.topk(min(NEIGHBOURS, len(known)), dim=1).values[:, -1:]
        votes.append((cosines > least - ROUNDING).double() @ targets)
    return torch.cat(votes)


def fit(known: Tensor, targets: Tensor, features: Tensor) -> Tensor:
    """The scores of each class, shape (images, classes), of a linear model: ridge regression.

    Features are standardised with mean and standard deviation of the known images. Hoerl and
    Kennard 1970, https://doi.org/10.1080/00401706.1970.10488634
    """
    mean, std = known.mean(dim=0), known.std(dim=0, correction=0)
    std = torch.where(std > ROUNDING, std, 1.0)  # of a feature that is always the same
    known, features = (known - mean) / std, (features - mean) / std
    offset = targets.mean(dim=0)
    penalty = PENALTY * torch.eye(known.shape[1], dtype=known.dtype)
    weights = torch.linalg.solve(known.T @ known + penalty, known.T @ (targets - offset))
    return features @ weights + offset
