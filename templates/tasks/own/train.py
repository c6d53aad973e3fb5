from itertools import islice

import torch
import torch.nn.functional as F
from torch import Tensor

#: slot loss_function
def compute_loss(outputs: Tensor, targets: Tensor) -> Tensor:
    """The loss of each sample, shape (batch,): replace it with yours.

    Average the losses of tokens or pixels within each sample, without padding.
    """
    return F.mse_loss(outputs, targets, reduction="none").mean(dim=1)

#: slot evaluate_function
@torch.no_grad()
def evaluate(accelerator, model, loader, name{{ task.limit }}) -> dict[str, float]:
    """Mean loss and mean absolute error of a whole set, the same for any number of processes.

    Replace the error with your metrics. All processes must return the same floats. "val_loss"
    decides which weights are best.

    gather_for_metrics drops the samples that pad the last batch. It needs a row for each sample:
    average after it, never before. For a metric that is not a mean, gather outputs and targets.
    """
    model.eval()
    loss_sum = error_sum = seen = 0
    #: slot before_evaluation
    for inputs, targets in {{ task.batches }}:
        outputs = model(inputs)
        losses = compute_loss(outputs, targets)
        errors = (outputs - targets).abs().mean(dim=1)
        losses, errors = accelerator.gather_for_metrics((losses, errors))
        loss_sum += losses.sum()
        error_sum += errors.sum()
        seen += len(losses)
        #: slot evaluated_batch
    #: slot back_to_training
    return {f"{name}_loss": float(loss_sum) / seen, f"{name}_error": float(error_sum) / seen}

#: slot forward
#: region loss
loss = compute_loss(model(inputs), targets).mean()
#: end loss
#: region add_loss
train_loss.add(loss, len(targets))
#: end add_loss
