from itertools import islice
from textwrap import indent

import torch
import torch.nn.functional as F
from torch import Tensor

from data import show
from metrics import count_tokens
from reference import ROUNDING, answer_log_probs, find_gaps

#: slot evaluate_function when loss=sigmoid|ipo|simpo|orpo
@torch.no_grad()
def evaluate(accelerator, model, loader, name{{ task.limit }}) -> dict[str, float]:
    """Mean loss, share of pairs whose preferred answer has the higher reward, and mean margin.

    They are the same for any number of processes. gather_for_metrics drops the samples that pad
    the last batch. Average after gathering, never before.
    """
    model.eval()
    loss_sum = right = margin_sum = seen = 0
    #: slot before_evaluation
    for {{ task.batch }} in {{ task.batches }}:
        values = score(model, {{ task.batch }})
        losses, margins = accelerator.gather_for_metrics(values)
        loss_sum += losses.sum()
        right += (margins > ROUNDING).sum()
        margin_sum += margins.sum()
        seen += len(losses)
        #: slot evaluated_batch
    #: slot back_to_training
    return {
        f"{name}_loss": float(loss_sum) / seen,
        f"{name}_reward_accuracy": float(right) / seen,
        f"{name}_reward_margin": float(margin_sum) / seen
        #: slot evaluated
    }


def score(model, {{ task.batch }}) -> tuple[Tensor, Tensor]:
    """The loss and the reward margin of each pair."""
    gaps = find_gaps(answer_log_probs(model, inputs, targets), reference)
    return compute_loss(gaps, beta), beta * gaps

#: slot before_prepare
accelerator.print("The first pair, with [[the tokens that count]]:")
for sample in train_loader.dataset[0][:2]:
    accelerator.print(indent(show(sample, config), "> ", lambda line: True))

#: slot before_prepare when project.loop=complete
rows = range(min(3, len(val_loader.dataset)))
examples = [val_loader.dataset[row][0] for row in rows]  # answered after each evaluation

#: slot forward
log_probs = answer_log_probs(model, inputs, targets)
#: region loss
losses = compute_loss(find_gaps(log_probs, reference), beta)
#: end loss
#: region imitation
losses = losses - config.sft_weight * log_probs[:, 0]  # the loss of the preferred answer
#: end imitation
loss = losses.mean()
#: region add_loss
train_loss.add(loss, len(losses))
#: end add_loss

#: slot loss_function when loss=sigmoid
def compute_loss(gaps: Tensor, beta: Tensor) -> Tensor:
    """The loss of each pair, shape (batch,): https://arxiv.org/abs/2305.18290, formula 7."""
    return -F.logsigmoid(beta * gaps)

#: replace imitation when loss=sigmoid|kto
# the loss per token of the preferred answer
losses = losses - config.sft_weight * (log_probs / count_tokens(targets))[:, 0]

#: slot loss_function when loss=ipo
def compute_loss(gaps: Tensor, beta: Tensor) -> Tensor:
    """The loss of each pair, shape (batch,): https://arxiv.org/abs/2310.12036, formula 17."""
    return (gaps - 1 / (2 * beta)) ** 2

#: slot loss_function when loss=simpo
def compute_loss(gaps: Tensor, beta: Tensor) -> Tensor:
    """The loss of each pair, shape (batch,): https://arxiv.org/abs/2405.14734, formula 6."""
    return -F.logsigmoid(beta * (gaps - {{ dpo.margin | python }}))

#: slot loss_function when loss=orpo
def compute_loss(gaps: Tensor, beta: Tensor) -> Tensor:
    """The loss of the odds of each pair, shape (batch,): https://arxiv.org/abs/2403.07691, 4.2."""
    return -beta * F.logsigmoid(gaps)

#: slot evaluate_function when loss=kto
@torch.no_grad()
def evaluate(accelerator, model, loader, name{{ task.limit }}) -> dict[str, float]:
    """Mean loss, share of pairs whose preferred answer has the higher reward, and mean margin.

    They are the same for any batch size and number of processes. gather_for_metrics drops the
    samples that pad the last batch. Average after gathering, never before.
    """
    model.eval()
    found = []
    #: slot before_evaluation
    for {{ task.batch }} in {{ task.batches }}:
        gains = answer_log_probs(model, inputs, targets) - reference
        found.append(accelerator.gather_for_metrics((gains, beta)))
        #: slot evaluated_batch
    losses, margins = score(*map(torch.cat, zip(*found, strict=True)))
    #: slot back_to_training
    return {
        f"{name}_loss": float(losses.mean()),
        f"{name}_reward_accuracy": float((margins > ROUNDING).double().mean()),
        f"{name}_reward_margin": float(margins.mean())
        #: slot evaluated
    }


def score(gains: Tensor, beta: Tensor) -> tuple[Tensor, Tensor]:
    """The loss and the reward margin of each pair, with the drift of all of them."""
    return compute_loss(gains, gains[:, 2:].mean(), beta), beta * (gains[:, 0] - gains[:, 1])

#: replace loss when loss=kto
gains = log_probs - reference
# how far the model has moved from the reference, on all processes
drift = accelerator.reduce(gains[:, 2:].detach().mean(), "mean")
losses = compute_loss(gains, drift, beta)

#: slot loss_function when loss=kto
DESIRABLE, UNDESIRABLE = {{ dpo.desirable_weight | python }}, {{ dpo.undesirable_weight | python }}  # weights of the losses


def compute_loss(gains: Tensor, drift: Tensor, beta: Tensor) -> Tensor:
    """The loss of each pair, shape (batch,): https://arxiv.org/abs/2402.01306, formula 7.

    `gains` are the increases of the log-probabilities since the reference, shape (batch, 4), and
    `drift` is their mean for answers to other questions.
    """
    drift = drift.clamp(min=0)  # like the KL divergence that it estimates
    desirable = 1 - torch.sigmoid(beta * (gains[:, 0] - drift))
    undesirable = 1 - torch.sigmoid(beta * (drift - gains[:, 1]))
    return (DESIRABLE * desirable + UNDESIRABLE * undesirable) / 2
