from itertools import islice

import torch

from bootstrap import Columns, Metrics, compare, find_intervals, is_same_data, measure_groups
from errors import draw_predictions, write_samples
from train import compute_loss

#: slot measure
@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """The target, the prediction, the error and the loss of each {{ task.sample }}."""
    model.eval()
    #: region scale
    scale = accelerator.unwrap_model(model).scale
    #: end scale
    batches = []
    for {{ task.batch }} in islice(loader, limit or None):
        #: region predictions
        predictions = model({{ task.batch.split(",")[0] }})
        #: end predictions
        values = (targets, predictions, scale(targets), compute_loss(predictions, targets, scale))
        batches.append([part.cpu() for part in accelerator.gather_for_metrics(values)])
    targets, predictions, scaled, losses = map(torch.cat, zip(*batches, strict=True))
    columns = {"target": targets, "prediction": predictions, "error": predictions - targets}
    return {**columns, "scaled": scaled, "loss": losses}


def summarize(columns: Columns) -> Metrics:
    """The metrics of these samples, in the unit of the targets."""
    errors, loss, scaled = columns["error"], float(columns["loss"].mean()), columns["scaled"]
    variance = float(scaled.var(correction=0))
    equal = variance <= 1e-6 * float(scaled.square().mean())
    return {
        "loss": loss,
        "rmse": float(errors.double().square().mean().sqrt()),
        "mae": float(errors.abs().mean()),
        "r2": 0.0 if equal else 1 - loss / variance,
    }

#: replace picture
draw_predictions(folder / "errors.png", columns["target"], columns["prediction"])
