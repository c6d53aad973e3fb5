from itertools import islice

import torch

from bootstrap import Columns, Metrics
from metrics import count_tokens
from reference import ROUNDING, answer_log_probs
from train import score

#: slot measure when loss=sigmoid|ipo|simpo|orpo
@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """The loss of each pair, whether the preferred answer has the higher reward, and the margin."""
    model.eval()
    batches = []
    for {{ task.batch }} in islice(loader, limit or None):
        losses, margins = score(model, {{ task.batch }})
        values = losses, margins > ROUNDING, margins, count_tokens(targets).sum(dim=1)
        batches.append([part.cpu() for part in accelerator.gather_for_metrics(values)])
    parts = map(torch.cat, zip(*batches, strict=True))
    return dict(zip(("loss", "right", "margin", "tokens"), parts, strict=True))

#: slot measure when loss=kto
@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """The loss of each pair, whether the preferred answer has the higher reward, and the margin."""
    model.eval()
    batches = []
    for {{ task.batch }} in islice(loader, limit or None):
        gains = answer_log_probs(model, inputs, targets) - reference
        values = gains, beta, count_tokens(targets[:, :2]).sum(dim=1)
        batches.append([part.cpu() for part in accelerator.gather_for_metrics(values)])
    gains, beta, tokens = map(torch.cat, zip(*batches, strict=True))
    losses, margins = score(gains, beta)
    return {"loss": losses, "right": margins > ROUNDING, "margin": margins, "tokens": tokens}

#: slot measure
def summarize(columns: Columns) -> Metrics:
    """The metrics of these pairs."""
    return {
        "loss": float(columns["loss"].mean()),
        "reward_accuracy": float(columns["right"].double().mean()),
        "reward_margin": float(columns["margin"].mean()),
    }
