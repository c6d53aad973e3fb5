from bootstrap import Columns, Metrics, compare, find_intervals, is_same_data, measure_groups
from errors import draw_losses, write_samples
from itertools import islice

import torch
from data import Fixed

#: slot samples
if split == "train":
    data = Fixed(data, config)

#: slot measure
@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """The loss of each image."""
    model.eval()
    batches = []
    for {{ task.batch }} in islice(loader, limit or None):
        batches.append(accelerator.gather_for_metrics({{ task.measured }}).cpu())
    {{ task.measured_name }} = torch.cat(batches)
    return {"loss": {{ task.all_losses }}}


def summarize(columns: Columns) -> Metrics:
    """The metric of these images."""
    return {"loss": float(columns["loss"].mean())}
