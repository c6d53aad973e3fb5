#: file when probe=classes
"""How well features tell classes apart: two probes, fitted on some training images."""

import torch
import torch.nn.functional as F
from torch import Tensor

NEIGHBORS = 5  # images that vote for the class of an image
PENALTY = 1.0  # on the squared weights of the linear probe
ROUNDING = 1e-6  # the cosine of a pair differs by less than this between batches


def find_new(known: Tensor) -> Tensor:
    """The images to evaluate: the new ones. A set without new images is evaluated on itself."""
    return ~known | known.all()


def find_right(features: Tensor, labels: Tensor, known: Tensor) -> dict[str, Tensor]:
    """Whether each probe finds the class of the new images, shape (images,).

    Features have the shape (all images, width), labels and `known` (all images,). The probes
    are fitted only on known images.
    """
    new = find_new(known)
    # on the CPU, because not every device has double precision
    some, others = features[known].cpu().double(), features[new].cpu().double()
    classes, numbers = labels[known].cpu().unique(return_inverse=True)
    if not len(classes):  # the probes have no labels
        return dict.fromkeys(("knn", "linear"), torch.zeros(len(others), dtype=torch.bool))
    targets = F.one_hot(numbers).double()
    found = {"knn": find_neighbors(some, targets, others), "linear": fit(some, targets, others)}
    expected = labels[new].cpu()
    return {name: classes[scores.argmax(dim=1)] == expected for name, scores in found.items()}


def find_neighbors(known: Tensor, targets: Tensor, features: Tensor) -> Tensor:
    """The votes for each class, (images, classes), of the known images with the highest cosines.

    In a tie with the last one, all vote, so rounding errors don't matter.
    """
    known, votes = F.normalize(known, dim=1), []
    for part in F.normalize(features, dim=1).split(1024):  # in parts, to save memory
        cosines = part @ known.T
        least = cosines.topk(min(NEIGHBORS, len(known)), dim=1).values[:, -1:]
        votes.append((cosines > least - ROUNDING).double() @ targets)
    return torch.cat(votes)


def fit(known: Tensor, targets: Tensor, features: Tensor) -> Tensor:
    """The scores of each class, shape (images, classes), of a linear model: ridge regression.

    Features are standardized with the mean and standard deviation of the known images. Hoerl and
    Kennard 1970, https://doi.org/10.1080/00401706.1970.10488634
    """
    mean, std = known.mean(dim=0), known.std(dim=0, correction=0)
    std = torch.where(std > ROUNDING, std, 1.0)  # of a feature that is always the same
    known, features = (known - mean) / std, (features - mean) / std
    offset = targets.mean(dim=0)
    penalty = PENALTY * torch.eye(known.shape[1], dtype=known.dtype)
    weights = torch.linalg.solve(known.T @ known + penalty, known.T @ (targets - offset))
    return features @ weights + offset
