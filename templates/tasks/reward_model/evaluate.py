from itertools import islice

import torch

from bootstrap import Columns, Metrics
from train import compute_loss, find_rewards

#: slot measure
@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """The loss of each pair, whether the preferred answer has the higher reward, and the margin."""
    model.eval()
    batches = []
    for tokens, mask in islice(loader, limit or None):
        rewards = find_rewards(model, tokens, mask)
        batches.append(accelerator.gather_for_metrics(rewards).cpu())
    rewards = torch.cat(batches)
    margins = rewards[:, 0] - rewards[:, 1]
    return {"loss": compute_loss(rewards), "right": margins > 0, "margin": margins}


def summarize(columns: Columns) -> Metrics:
    """The metrics of these pairs."""
    return {
        "loss": float(columns["loss"].mean()),
        "accuracy": float(columns["right"].double().mean()),
        "margin": float(columns["margin"].mean()),
    }
