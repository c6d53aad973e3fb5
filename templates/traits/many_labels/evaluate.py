from itertools import islice

import torch

from bootstrap import Columns, Metrics, compare, find_intervals, is_same_data, measure_groups
from data import class_names
from scores import label_scores
from train import compute_loss

#: slot measure
@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """The loss of each sample, and its labels and logits, shape (samples, labels)."""
    model.eval()
    batches = []
    for {{ task.batch }} in islice(loader, limit or None):
        #: region logits
        logits = model({{ task.batch.split(",")[0] }})
        #: end logits
        values = (compute_loss(logits, labels), labels, logits)
        batches.append([part.cpu() for part in accelerator.gather_for_metrics(values)])
    parts = map(torch.cat, zip(*batches, strict=True))
    return dict(zip(("loss", "label", "logit"), parts, strict=True))


def summarize(columns: Columns) -> Metrics:
    """The metrics of these samples."""
    scores = label_scores(columns["logit"], columns["label"])
    return {"loss": float(columns["loss"].double().mean()), **scores}


def count_classes(columns: Columns) -> Tensor:
    """How often each label is right, missed and wrong, shape (labels, 3)."""
    occurs, predicted = columns["label"].bool(), columns["logit"] > 0
    parts = (occurs & predicted, occurs & ~predicted, ~occurs & predicted)
    return torch.stack([part.sum(dim=0) for part in parts], dim=1)

#: slot table
names = class_names(config)
for key, chosen in ("labels", columns["label"] > 0), ("predictions", columns["logit"] > 0):
    rows = chosen.tolist()
    table[key] = [",".join(name for name, one in zip(names, row, strict=True) if one) for row in rows]
probs = columns["logit"].sigmoid().T.tolist()
table |= {f"p_{name}": column for name, column in zip(names, probs, strict=True)}

#: slot class_scores
for label, row in enumerate(found.values()):
    row |= label_scores(columns["logit"][:, [label]], columns["label"][:, [label]])
