from itertools import islice

import torch
import torch.nn.functional as F
from torch import Tensor

from data import count_cut
from metrics import hide_padding

#: slot loss_function
def compute_loss(scores: Tensor, mask: Tensor, labels: Tensor) -> Tensor:
    """The loss of each sample, shape (batch,)."""
    return F.cross_entropy(hide_padding(scores, mask), labels, reduction="none")

#: slot evaluate_function
@torch.no_grad()
def evaluate(accelerator, model, loader, name{{ task.limit }}) -> dict[str, float]:
    """Mean loss and accuracy over the whole set.

    They are the same for any number of processes. gather_for_metrics drops the samples that pad
    the last batch. Average after gathering, never before.
    """
    model.eval()
    loss_sum = right_sum = samples = 0
    #: slot before_evaluation
    for tokens, mask, types, labels in {{ task.batches }}:
        scores = model(tokens, mask, types)
        right = hide_padding(scores, mask).argmax(dim=1) == labels
        losses, right = accelerator.gather_for_metrics((compute_loss(scores, mask, labels), right))
        loss_sum += losses.sum()
        right_sum += right.sum()
        samples += len(right)
        #: slot evaluated_batch
    #: slot back_to_training
    return {
        f"{name}_loss": float(loss_sum / samples),
        f"{name}_accuracy": float(right_sum / samples)
        #: slot evaluated
    }

#: slot forward
#: region loss
loss = compute_loss(model(tokens, mask, types), mask, labels).mean()
#: end loss
#: region add_loss
train_loss.add(loss, len(labels))
#: end add_loss

#: slot start_of_training
for part, count in zip(("training", "validation", "test"), count_cut(config), strict=True):
    if count:
        accelerator.print(f"{count} choices of the {part} data fill --max-length: the rest is cut")
