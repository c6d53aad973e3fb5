import csv
from bootstrap import Columns, Metrics, compare, find_intervals, is_same_data, mcnemar, take
from itertools import islice

import torch
from confusion import count_pairs, draw_pairs
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

#: slot arguments
#: region by_argument
parser.add_argument("--by", choices=["class"], help="also print the metrics of each class")
#: end by_argument

#: slot names
#: region names
classes = 1 + int(max(columns["label"].max(), columns["prediction"].max()))
names = [str(label) for label in range(classes)]
#: end names

#: slot table
for name in ("label", "prediction"):
    table[name] = [names[number] for number in table[name]]

#: slot tables
wrong = [row for row, name in enumerate(table["label"]) if name != table["prediction"][row]]
errors = {name: [values[row] for row in wrong] for name, values in table.items()}
write_table(folder / "errors.csv", errors)
counts = count_pairs(columns["label"], columns["prediction"], len(names))
rows = {name: counts[:, column].tolist() for column, name in enumerate(names)}
write_table(folder / "confusion.csv", {"label": names, **rows})
draw_pairs(folder / "confusion.png", counts, names)

#: slot group
#: region group
groups = [names[label] for label in columns["label"].tolist()]
#: end group

#: slot compared
right = [one["prediction"] == one["label"] for one in (columns, other)]
report["mcnemar"] = mcnemar(*right)
