#: file when project.loop=complete
"""Pictures of forecasts, written while the model trains."""

from pathlib import Path

import torch
from accelerate import Accelerator
from matplotlib.figure import Figure
from torch import Tensor, nn

from metrics import log


@torch.no_grad()
def draw_forecasts(
    accelerator: Accelerator,
    model: nn.Module,
    contexts: Tensor,
    targets: Tensor,
    scales: Tensor,
    path: Path,
) -> None:
    """Draw windows in the units of their series: the context, the true values and the forecast."""
    #: region draw
    if accelerator.is_main_process:
        forecaster = accelerator.unwrap_model(model)  # only the main process runs it
        forecaster.eval()
        forecasts = forecaster(contexts.to(accelerator.device)).cpu()
        forecaster.train()
        save_windows(contexts, targets, forecasts, scales, path)
    #: end draw


def save_windows(
    contexts: Tensor, targets: Tensor, forecasts: Tensor, scales: Tensor, path: Path
) -> None:
    """Write a panel for each window. If that fails, the run continues without the picture."""
    figure = Figure(figsize=(12, 2 * len(contexts)))
    panels = figure.subplots(-(-len(contexts) // 2), 2, squeeze=False).flatten()
    past = torch.arange(-contexts.shape[1], 0)
    steps = torch.arange(targets.shape[1])
    for axes, *window, scale in zip(panels, contexts, targets, forecasts, scales, strict=False):
        context, target, forecast = (scale[0] + scale[1] * values for values in window)
        axes.plot(past, context, color="gray", label="before")
        axes.plot(steps, target, color="black", label="true")
        ...  #: slot forecast
    panels[0].legend()
    try:
        figure.savefig(path)
    except Exception as error:  # noqa: BLE001, a picture must not end the run
        log(f"{path} was not drawn: {error!r}")
#: end file

from model import QUANTILES

#: slot forecast when loss=mae
axes.plot(steps, forecast, color="C0", label="forecast")

#: slot forecast when loss=quantiles
axes.plot(steps, forecast[:, QUANTILES.index(0.5)], color="C0", label="forecast")
axes.fill_between(steps, forecast[:, 0], forecast[:, -1], color="C0", alpha=0.3)

#: replace draw when hardware.sharding=deepspeed|fsdp
# run on all processes: each one holds a shard of the weights
model.eval()
forecasts = model(contexts.to(accelerator.device)).cpu()
model.train()
if accelerator.is_main_process:
    save_windows(contexts, targets, forecasts, scales, path)
