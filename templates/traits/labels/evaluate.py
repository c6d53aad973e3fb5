from itertools import islice

import torch

from bootstrap import (
    Columns,
    Metrics,
    compare,
    find_intervals,
    is_same_data,
    mcnemar,
    measure_groups,
)
from errors import count_pairs, write_confusion, write_samples
from train import compute_loss

#: slot measure
@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """The loss, the label and the prediction of each sample."""
    model.eval()
    batches = []
    for {{ task.batch }} in islice(loader, limit or None):
        #: region logits
        logits = model({{ task.batch.split(",")[0] }})
        #: end logits
        values = (compute_loss(logits, labels), labels, logits.argmax(dim=-1))
        batches.append([part.cpu() for part in accelerator.gather_for_metrics(values)])
    parts = map(torch.cat, zip(*batches, strict=True))
    return dict(zip(("loss", "label", "prediction"), parts, strict=True))


#: region summarize
def summarize(columns: Columns) -> Metrics:
    """The metrics of these samples."""
    right = columns["prediction"] == columns["label"]
    return {"loss": float(columns["loss"].mean()), "accuracy": float(right.double().mean())}


#: end summarize

#: slot table
#: region names
classes = 1 + int(max(columns["label"].max(), columns["prediction"].max()))
names = [str(label) for label in range(classes)]
#: end names
for name in ("label", "prediction"):
    table[name] = [names[number] for number in table[name]]

#: replace groups
groups = {"class": table["label"], **table}
report |= measure_groups(columns, groups, given.by, summarize)

#: replace picture
counts = count_pairs(columns["label"], columns["prediction"], len(names))
write_confusion(folder, counts, names)

#: slot compared
right = [one["prediction"] == one["label"] for one in (columns, other)]
report["mcnemar"] = mcnemar(*right)
