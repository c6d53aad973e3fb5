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
    for images, {{ task.drawn_name }}, labels, known in islice(loader, limit or None):
        values = ({{ task.measured }}, model(images).float(), labels, known)
        batches.append([part.cpu() for part in accelerator.gather_for_metrics(values)])
    {{ task.measured_name }}, features, labels, known = map(torch.cat, zip(*batches, strict=True))
    new = find_new(known)
    columns = {"loss": {{ task.losses }}, "label": labels[new]}
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
    for {{ task.batch }} in islice(loader, limit or None):
        batches.append(accelerator.gather_for_metrics({{ task.measured }}).cpu())
    {{ task.measured_name }} = torch.cat(batches)
    return {"loss": {{ task.all_losses }}}


def summarize(columns: Columns) -> Metrics:
    """The metric of these images."""
    return {"loss": float(columns["loss"].mean())}
