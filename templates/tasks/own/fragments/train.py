from itertools import islice

import torch
import torch.nn.functional as F
from torch import Tensor

#: slot functions
def compute_losses(outputs: Tensor, targets: Tensor) -> Tensor:
    """Yours to replace: the loss of each sample, shape (batch,). The loop averages them.

    Losses of tokens or pixels are averaged within a sample, without those that only pad it.
    """
    return F.mse_loss(outputs, targets, reduction="none").mean(dim=1)

#: slot evaluate_function
@torch.no_grad()
def evaluate(model, loader, accelerator, name: str, limit: int) -> dict[str, float]:
    """Mean loss and mean absolute error over the whole set, the same for any number of processes.

    Yours to replace are the errors. All processes return the same floats, and "val_loss" says which
    weights are best. gather_for_metrics cuts off samples that only pad the last batches. It needs
    one row for each sample: average after it, never before. Where a mean is not enough, gather
    outputs and targets, all in one shape, and compare them.
    """
    model.eval()
    loss_sum = error_sum = seen = 0
    #: slot before_evaluation
    for inputs, targets in islice(loader, limit or None):
        outputs = model(inputs)
        losses = compute_losses(outputs, targets)
        errors = (outputs - targets).abs().mean(dim=1)
        losses, errors = accelerator.gather_for_metrics((losses, errors))
        loss_sum += losses.sum()
        error_sum += errors.sum()
        seen += len(losses)
        #: slot evaluated_batch
    model.train()
    return {
        f"{name}_loss": float(loss_sum) / seen,
        f"{name}_error": float(error_sum) / seen,
        #: slot evaluated
    }

#: slot forward
inputs, targets = batch
#: region loss
loss = compute_losses(model(inputs), targets).mean()
#: end loss
train_loss.add(loss, len(targets))
