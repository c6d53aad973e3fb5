from itertools import islice

import torch

from bootstrap import Columns, Metrics
from data import Fixed, Probed, split_known
from probe import find_new, find_right
from train import compare_all, compute_loss, project

#: slot samples when probe=classes
if split == "train":
    known, others = split_known(data, config)
    data = Probed(others, known, config)

#: slot measure when probe=classes
@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """The loss of each new image, its label, and whether each probe predicts it."""
    model.eval()
    batches = []
    #: region image_losses
    for images, views, labels, known in islice(loader, limit or None):
        values = (project(model, views).float(), model(images).float(), labels, known)
        batches.append([part.cpu() for part in accelerator.gather_for_metrics(values)])
    vectors, features, labels, known = map(torch.cat, zip(*batches, strict=True))
    new = find_new(known)
    columns = {"loss": compare_all(vectors[new]), "label": labels[new]}
    #: end image_losses
    return columns | find_right(features, labels, known)


def summarize(columns: Columns) -> Metrics:
    """The metrics of these images."""
    rights = {f"{probe}_accuracy": columns[probe] for probe in ("knn", "linear")}
    means = {name: float(values.double().mean()) for name, values in rights.items()}
    return {"loss": float(columns["loss"].mean()), **means}

#: slot samples when probe=none
if split == "train":
    data = Fixed(data, config)

#: slot measure when probe=none
@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """The loss of each image."""
    model.eval()
    batches = []
    #: region image_losses
    for _, views in islice(loader, limit or None):
        batches.append(accelerator.gather_for_metrics(project(model, views).float()).cpu())
    vectors = torch.cat(batches)
    return {"loss": compare_all(vectors)}
    #: end image_losses


def summarize(columns: Columns) -> Metrics:
    """The metric of these images."""
    return {"loss": float(columns["loss"].mean())}

#: replace image_losses when method=mae probe=classes
for images, seen, labels, known in islice(loader, limit or None):
    values = (compute_loss(model(images, seen), images, seen), model(images).float(), labels, known)
    batches.append([part.cpu() for part in accelerator.gather_for_metrics(values)])
losses, features, labels, known = map(torch.cat, zip(*batches, strict=True))
new = find_new(known)
columns = {"loss": losses[new], "label": labels[new]}

#: replace image_losses when method=mae probe=none
for images, seen in islice(loader, limit or None):
    batches.append(accelerator.gather_for_metrics(compute_loss(model(images, seen), images, seen)).cpu())
losses = torch.cat(batches)
return {"loss": losses}
