#: with numbers
from itertools import islice

import torch
import torch.nn.functional as F
from torch import Tensor, nn

#: slot loss_function
def compute_loss(predictions: Tensor, targets: Tensor, scale: nn.Module) -> Tensor:
    """The loss of each sample, shape (batch,), the same for targets in any unit.

    It is the squared error in standard deviations of the training targets.
    """
    return F.mse_loss(scale(predictions), scale(targets), reduction="none")

#: slot evaluate_function
@torch.no_grad()
def evaluate(accelerator, model, loader, name{{ task.limit }}) -> dict[str, float]:
    """Mean loss, RMSE and MAE in the unit of the targets, and R² of a whole set.

    They are the same for any number of processes. gather_for_metrics drops the samples that pad
    the last batch. Average after gathering, never before.
    """
    model.eval()
    #: region scale
    scale = accelerator.unwrap_model(model).scale
    #: end scale
    sums = seen = 0
    #: slot before_evaluation
    for {{ task.batch }} in {{ task.batches }}:
        #: region gathered
        predictions, targets = accelerator.gather_for_metrics((model({{ task.batch.split(",")[0] }}), targets))
        #: end gathered
        losses, errors = compute_loss(predictions, targets, scale), (predictions - targets).abs()
        scaled = scale(targets)
        sums += torch.stack([losses, errors, scaled, scaled.square()]).sum(dim=1)
        seen += len(targets)
        #: slot evaluated_batch
    #: slot back_to_training
    loss, error, mean, mean_square = (sums / seen).tolist()
    variance = mean_square - mean**2
    equal = variance <= 1e-6 * mean_square  # R² is not defined for targets that are all equal
    return {
        f"{name}_loss": loss,
        f"{name}_rmse": loss**0.5 * float(scale.std),
        f"{name}_mae": error,
        f"{name}_r2": 0.0 if equal else 1 - loss / variance,
    }
