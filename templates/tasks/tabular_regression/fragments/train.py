from itertools import islice

import torch
import torch.nn.functional as F

#: slot evaluate_function
@torch.no_grad()
def evaluate(model, loader, accelerator, name: str, limit: int) -> dict[str, float]:
    """Loss as in training, RMSE and MAE in the unit of the targets, and R² over the whole set.

    They are the same for any number of processes: gather_for_metrics cuts off the samples that
    only pad the last batches. It needs one value for each sample: average after it, never before.
    """
    model.eval()
    scale = accelerator.unwrap_model(model).scale
    sums = seen = 0
    #: slot before_evaluation
    for rows, targets in islice(loader, limit or None):
        predictions, targets = accelerator.gather_for_metrics((model(rows), targets))
        errors, scaled = scale(predictions) - scale(targets), scale(targets)
        sums += torch.stack([errors.square(), errors.abs(), scaled, scaled.square()]).sum(dim=1)
        seen += len(targets)
        #: slot evaluated_batch
    model.train()
    squared, absolute, mean, mean_square = (sums / seen).tolist()
    variance = mean_square - mean**2
    defined = variance > 1e-6 * mean_square  # R² is not where all targets are the same
    return {
        f"{name}_loss": squared,
        f"{name}_rmse": squared**0.5 * float(scale.std),
        f"{name}_mae": absolute * float(scale.std),
        f"{name}_r2": 1 - squared / variance if defined else 0.0,
        #: slot evaluated
    }

#: slot setup
scale = accelerator.unwrap_model(model).scale  # of the targets, as in the training data

#: slot forward
rows, targets = batch
#: region loss
# in units of the standard deviation: the rate fits any unit
loss = F.mse_loss(scale(model(rows)), scale(targets))
#: end loss
train_loss.add(loss, len(targets))
