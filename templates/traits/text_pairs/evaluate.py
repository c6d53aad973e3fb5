from itertools import islice

import torch

from bootstrap import Columns, Metrics
from contrast import embed, rank_positives
from data import number_texts
from metrics import retrieval_scores

#: slot measure
@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """The loss of each row, and the rank of its positive among all texts of the set.

    `target` is the number of the anchor.
    """
    model.eval()
    batches = []
    for tokens, mask, numbers in islice(loader, limit or None):
        values = (embed(model, tokens, mask).float(), numbers)
        batches.append([part.cpu() for part in accelerator.gather_for_metrics(values)])
    vectors, numbers = map(torch.cat, zip(*batches, strict=True))
    temperature = accelerator.unwrap_model(model).temperature
    losses, ranks = rank_positives(vectors, numbers, temperature)
    return {"loss": losses, "rank": ranks, "target": numbers[:, 0]}


def summarize(columns: Columns) -> Metrics:
    """The metrics of these rows."""
    return {"loss": float(columns["loss"].mean()), **retrieval_scores(columns["rank"])}

#: slot table
texts = list(number_texts(config))
table["anchor"] = [texts[number] for number in table.pop("target")]
