import torch
from torch import Tensor

#: slot classes
def retrieval_scores(ranks: Tensor) -> dict[str, float]:
    """How often the positive is first or among the first 10, and the mean of 1 / rank."""
    ranks = ranks.double()
    return {
        "recall_at_1": float((ranks <= 1).double().mean()),
        "recall_at_10": float((ranks <= 10).double().mean()),
        "mrr": float((1 / ranks).mean()),
    }

#: slot classes with image_texts
def pair_scores(ranks: Tensor) -> dict[str, float]:
    """The scores of images that look for texts and of texts that look for images.

    `ranks` have the shape (rows, 2): of the first right text, and of the first right image.
    """
    scores = {
        f"{part}_{name}": value
        for part, column in zip(("text", "image"), ranks.T, strict=True)
        for name, value in retrieval_scores(column).items()
    }
    return scores | {"mrr": (scores["text_mrr"] + scores["image_mrr"]) / 2}
