from itertools import islice

import torch

from bootstrap import Columns, Metrics
from data import load_questions
from metrics import decide, judge
from train import compute_loss

#: slot measure
@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """For each question: the mean loss of its windows, their number, exact match and F1.

    `target` is the number of the question.
    """
    model.eval()
    batches = []
    for tokens, mask, types, spans, windows in islice(loader, limit or None):
        logits = model(tokens, mask, types)
        values = (compute_loss(logits, mask, spans), judge(logits, windows))
        batches.append([part.cpu() for part in accelerator.gather_for_metrics(values)])
    losses, rows = map(torch.cat, zip(*batches, strict=True))
    numbers = rows[:, 0].tolist()
    order = {number: place for place, number in enumerate(dict.fromkeys(numbers))}  # of decide()
    places = torch.tensor([order[number] for number in numbers])
    counts = torch.bincount(places)
    sums = torch.zeros(len(order)).index_add(0, places, losses)
    exact, f1 = decide(rows).unbind(dim=1)
    names = ("loss", "windows", "exact_match", "f1", "target")
    values = (sums / counts, counts, exact, f1, torch.tensor([*order]).long())
    return dict(zip(names, values, strict=True))


def summarize(columns: Columns) -> Metrics:
    """The metrics of these questions: each window counts the same for the loss."""
    loss = (columns["loss"] * columns["windows"]).sum() / columns["windows"].sum()
    return {"loss": float(loss)} | {
        name: float(columns[name].mean()) for name in ("exact_match", "f1")
    }

#: slot table
questions = [question.question for part in load_questions(config) for question in part]
table["question"] = [questions[number] for number in table.pop("target")]
