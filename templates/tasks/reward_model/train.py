import torch
import torch.nn.functional as F
from torch import Tensor

from model import build_tokenizer

#: slot loss_function
def compute_loss(rewards: Tensor) -> Tensor:
    """The loss of each pair, shape (batch,): https://arxiv.org/abs/2203.02155, formula 1.

    `rewards` are those of the preferred and of the rejected answer, shape (batch, 2).
    """
    return -F.logsigmoid(rewards[:, 0] - rewards[:, 1])


def find_rewards(model, tokens: Tensor, mask: Tensor) -> Tensor:
    """The rewards of pairs, shape (batch, 2)."""
    return model(tokens.flatten(0, 1), mask.flatten(0, 1)).unflatten(0, (-1, 2))

#: slot evaluate_function
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
        rewards = accelerator.gather_for_metrics(find_rewards(model, tokens, mask))
        margins = rewards[:, 0] - rewards[:, 1]
        loss_sum += compute_loss(rewards).sum()
        right += (margins > 0).sum()
        margin_sum += margins.sum()
        seen += len(rewards)
        #: slot evaluated_batch
    #: slot back_to_training
    return {
        f"{name}_loss": float(loss_sum) / seen,
        f"{name}_accuracy": float(right) / seen,
        f"{name}_margin": float(margin_sum) / seen
        #: slot evaluated
    }

#: slot before_prepare
show = build_tokenizer(config).show
for kind, chat in zip(("preferred", "rejected"), train_loader.dataset[0], strict=True):
    accelerator.print(f"The first {kind} conversation: {show(chat.tolist())}")

#: slot forward
rewards = find_rewards(model, tokens, mask)
#: region loss
losses = compute_loss(rewards)
#: end loss
# center the rewards: https://arxiv.org/abs/2312.09244
losses = losses + config.center_rewards_coefficient * rewards.sum(dim=1) ** 2
loss = losses.mean()
#: region add_loss
train_loss.add(loss, len(losses))
#: end add_loss
