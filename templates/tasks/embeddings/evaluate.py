from itertools import islice

import torch

from bootstrap import Columns, Metrics
from contrast import embed, rank_pairs, rank_positives
from data import number_items, number_texts
from metrics import pair_scores, retrieval_scores

#: slot measure without image_texts
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

#: slot table without image_texts
texts = list(number_texts(config))
table["anchor"] = [texts[number] for number in table.pop("target")]

#: slot measure with image_texts
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

#: slot table with image_texts
items = list(number_items(config))
table["image"] = [items[number] for number in table["image"]]
table["text"] = [items[number] for number in table.pop("target")]
