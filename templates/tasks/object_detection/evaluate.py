from itertools import islice

import torch
from torch import Tensor

from bootstrap import OUTCOMES, Columns, Metrics
from data import class_names
from metrics import detection_scores
from pictures import SHOWN
from train import score

#: slot measure
@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """The loss of each image, its detections as judge() judges them, and its objects per class.

    `target` are the objects.
    """
    model.eval()
    batches = []
    for images, targets in islice(loader, limit or None):
        ...  #: slot scored
        batches.append([part.cpu() for part in values])
    parts = map(torch.cat, zip(*batches, strict=True))
    #: region judged
    return dict(zip(("loss", "judged", "target"), parts, strict=True))
    #: end judged


def summarize(columns: Columns) -> Metrics:
    """The metrics of these images."""
    scores = detection_scores(columns["judged"], columns["target"])
    #: region summary
    return {"loss": float(columns["loss"].mean()), **scores}
    #: end summary


def count_images(columns: Columns) -> Tensor:
    """The objects of each image and class that are right, missed, and wrong: (images, classes, 3).

    Only detections that pictures show count. A box is right if its IoU is at least 0.5.
    """
    judged, objects = columns["judged"], columns["target"]
    labels = torch.arange(objects.shape[1])
    mine = (judged[..., 1:2] == labels) & (judged[..., :1] >= SHOWN)  # [image, detection, class]
    right, wrong = ((mine & (judged[..., 2:3] == value)).sum(dim=1) for value in (1, 0))
    return torch.stack([right, objects - right, wrong], dim=2)


def count_classes(columns: Columns) -> Tensor:
    """The objects of each class that are right, missed, and wrong, shape (classes, 3)."""
    return count_images(columns).sum(dim=0)

#: slot table
names = class_names(config)
table["objects"] = columns["target"].sum(dim=1).tolist()
table |= dict(zip(OUTCOMES, count_images(columns).sum(dim=1).T.tolist(), strict=True))

#: slot class_scores
for label, row in enumerate(found.values()):
    only = torch.zeros_like(columns["target"])
    only[:, label] = columns["target"][:, label]  # the other classes have no object
    row["map"] = detection_scores(columns["judged"], only)["map"]
    #: slot class_masks

#: replace judged when find=masks
return dict(zip(("loss", "judged", "judged_masks", "target"), parts, strict=True))

#: replace summary when find=masks
masks = detection_scores(columns["judged_masks"], columns["target"])
named = {f"mask_{name}": value for name, value in masks.items()}
return {"loss": float(columns["loss"].mean()), **scores, **named}

#: slot class_masks when find=masks
row["mask_map"] = detection_scores(columns["judged_masks"], only)["map"]

#: slot scored when model=small|timm
values = accelerator.gather_for_metrics(score(model(images), targets))

#: slot scored when model=transformers
values = accelerator.gather_for_metrics(score(*model(images, targets), targets))
