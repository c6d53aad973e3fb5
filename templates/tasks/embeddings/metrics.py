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
