from itertools import islice

import torch

from bootstrap import Columns, Metrics
from contrast import rank_pairs
from data import number_items
from metrics import pair_scores

#: slot measure
@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """The loss of each row, and the ranks of the first text and of the first image that are right.

    `target` is the number of the text, and `image` that of the image.
    """
    model.eval()
    batches = []
    for images, tokens, mask, numbers in islice(loader, limit or None):
        values = (model(images, tokens, mask).float(), numbers)
        batches.append([part.cpu() for part in accelerator.gather_for_metrics(values)])
    vectors, numbers = map(torch.cat, zip(*batches, strict=True))
    losses, ranks = rank_pairs(vectors, numbers)
    columns = {"loss": losses, "text_rank": ranks[:, 0], "image_rank": ranks[:, 1]}
    return columns | {"image": numbers[:, 0], "target": numbers[:, 1]}


def summarize(columns: Columns) -> Metrics:
    """The metrics of these rows."""
    ranks = torch.stack([columns["text_rank"], columns["image_rank"]], dim=1)
    return {"loss": float(columns["loss"].mean()), **pair_scores(ranks)}

#: slot table
items = list(number_items(config))
table["image"] = [items[number] for number in table["image"]]
table["text"] = [items[number] for number in table.pop("target")]
