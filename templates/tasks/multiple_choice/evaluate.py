from itertools import islice

import torch

from bootstrap import Columns, Metrics
from data import load_questions
from metrics import hide_padding
from train import compute_loss

#: slot measure
@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """The loss, the label and the prediction of each sample."""
    model.eval()
    batches = []
    for tokens, mask, types, labels in islice(loader, limit or None):
        scores = model(tokens, mask, types)
        predictions = hide_padding(scores, mask).argmax(dim=1)
        values = (compute_loss(scores, mask, labels), labels, predictions)
        batches.append([part.cpu() for part in accelerator.gather_for_metrics(values)])
    parts = map(torch.cat, zip(*batches, strict=True))
    return dict(zip(("loss", "label", "prediction"), parts, strict=True))


def summarize(columns: Columns) -> Metrics:
    """The metrics of these samples."""
    right = columns["prediction"] == columns["label"]
    return {"loss": float(columns["loss"].mean()), "accuracy": float(right.double().mean())}

#: slot table
questions = load_questions(config)[SPLITS.index(given.split)][: len(columns["loss"])]
table["context"] = [question.context for question in questions]
for name in ("label", "prediction"):
    pairs = zip(questions, table[name], strict=True)
    table[name] = [question.choices[number] for question, number in pairs]
