from itertools import islice

import torch
from torch import Tensor
from torch.utils.data import default_collate

from data import fit_scales
from metrics import count_errors, forecast_scores
from model import QUANTILES
from pictures import draw_forecasts

#: slot loss_function
#: region compute_loss
def compute_loss(forecasts: Tensor, targets: Tensor) -> Tensor:
    """The mean absolute error of the known targets of each window, shape (batch,)."""
    known = targets.isfinite()
    errors = forecasts - targets.where(known, forecasts)
    return errors.abs().sum(dim=1) / known.sum(dim=1)


#: end compute_loss

#: slot evaluate_function
@torch.no_grad()
def evaluate(accelerator, model, loader, name{{ task.limit }}) -> dict[str, float]:
    """Mean loss of all windows, and the metrics of all their known targets.

    gather_for_metrics drops the windows that pad the last batch. Sum over all windows
    before dividing.
    """
    model.eval()
    loss_sum = counts = seen = 0
    #: slot before_evaluation
    for contexts, targets, scales in {{ task.batches }}:
        values = score(model(contexts), targets, scales)
        losses, errors = accelerator.gather_for_metrics(values)
        loss_sum += losses.sum()
        counts += errors.sum(dim=0)
        seen += len(losses)
        #: slot evaluated_batch
    #: slot back_to_training
    return {
        f"{name}_loss": float(loss_sum) / seen,
        **{f"{name}_{key}": value for key, value in forecast_scores(counts).items()}
        #: slot evaluated
    }


def score(forecasts: Tensor, targets: Tensor, scales: Tensor) -> tuple[Tensor, Tensor]:
    """The loss of each window, and its errors as count_errors() counts them."""
    return compute_loss(forecasts, targets), count_errors(forecasts, targets, scales)

#: slot forward
#: region loss
loss = compute_loss(model(contexts), targets).mean()
#: end loss
#: region add_loss
train_loss.add(loss, len(contexts))
#: end add_loss

#: slot before_training when project.loop=complete
val_set = val_loader.dataset
chosen = torch.linspace(0, len(val_set) - 1, 4).long().tolist()
shown = default_collate([val_set[row] for row in chosen])

#: slot start_of_training
if accelerator.is_main_process:
    fit_scales(config).save(config.output_dir)

#: slot after_evaluation
path = config.output_dir / f"forecasts_{progress.step:08d}.png"
draw_forecasts(accelerator, model, *shown, path)

#: replace compute_loss when loss=quantiles
def compute_loss(forecasts: Tensor, targets: Tensor) -> Tensor:
    """Twice the pinball loss: the mean over known targets and quantiles, shape (batch,).

    For the median it is the absolute error. Koenker and Bassett 1978,
    https://doi.org/10.2307/1913643
    """
    known = targets.isfinite().unsqueeze(2)
    errors = targets.unsqueeze(2).where(known, forecasts) - forecasts
    levels = torch.tensor(QUANTILES, device=errors.device)
    losses = 2 * torch.maximum(levels * errors, (levels - 1) * errors)
    return losses.mean(dim=2).sum(dim=1) / known.sum(dim=(1, 2))
