import csv
from bootstrap import Columns, Metrics, compare, find_intervals, is_same_data
from itertools import islice

import torch
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

#: slot table
names, labels, logits = class_names(config), table.pop("label"), table.pop("logit")
table["labels"] = [
    ",".join(name for name, occurs in zip(names, row, strict=True) if occurs) for row in labels
]
chances = torch.tensor(logits).sigmoid().T.tolist()
table |= {f"p_{name}": column for name, column in zip(names, chances, strict=True)}
