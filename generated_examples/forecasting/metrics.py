"""The training loss, and how metrics are printed."""

from math import nan

import torch
from accelerate import Accelerator
from torch import Tensor


class RunningLoss:
    """The mean training loss per sample, over all processes.

    Losses are summed on the device, because reading a value waits for the device.
    """

    def __init__(self, accelerator: Accelerator) -> None:
        self.accelerator = accelerator
        # on this process, since the last read()
        self.sum, self.samples = torch.zeros((), device=accelerator.device), 0
        # over all processes, from the start of the epoch to the last read()
        self.epoch_sum, self.epoch_samples = 0.0, 0.0

    def add(self, loss: Tensor, samples: int) -> None:
        """Add the mean loss of `samples` samples."""
        self.sum.add_(loss.detach(), alpha=samples)
        self.samples += samples

    def window(self) -> Tensor:
        """Sum and samples on this process since the last read(), shape (1, 2)."""
        return torch.stack([self.sum, torch.full_like(self.sum, self.samples)])[None]

    def read(self) -> float:
        """The mean since the last call. All processes call it together."""
        total, samples = self.accelerator.reduce(self.window(), "sum")[0].tolist()
        self.sum.zero_()
        self.samples = 0
        self.epoch_sum += total
        self.epoch_samples += samples
        return total / max(samples, 1)

    def end_epoch(self) -> float:
        """The mean of the epoch. All processes call it together."""
        self.read()
        mean = self.epoch_sum / max(self.epoch_samples, 1)
        self.epoch_sum, self.epoch_samples = 0.0, 0.0
        return mean

    def state_dict(self) -> dict:
        """All processes call it together."""
        windows = self.accelerator.gather(self.window()).cpu()  # of each process
        return {"sum": self.epoch_sum, "samples": self.epoch_samples, "windows": windows}

    def load_state_dict(self, state: dict) -> None:
        self.epoch_sum, self.epoch_samples = state["sum"], state["samples"]
        window = state["windows"][self.accelerator.process_index]
        self.sum, self.samples = window[0].to(self.accelerator.device), int(window[1])


def count_errors(forecasts: Tensor, targets: Tensor, scales: Tensor) -> Tensor:
    """The sums that the metrics are computed from, for each window, shape (batch, 4).

    The absolute errors in the unit of the series, and the number of known targets. The same errors
    divided by the naive error of the series, and their number: a series whose naive error is 0 has
    no scaled errors.
    """
    known = targets.isfinite()
    errors = (forecasts - targets.where(known, forecasts)).abs().sum(dim=1)
    return sum_errors(errors, known.sum(dim=1), scales)


def sum_errors(errors: Tensor, known: Tensor, scales: Tensor) -> Tensor:
    """Sums of absolute errors, in standard deviations, as count_errors() returns them."""
    _, std, naive = scales.unbind(dim=1)
    errors, has_naive = errors * std, naive > 0
    scaled = errors / naive.where(has_naive, 1) * has_naive
    return torch.stack([errors, known, scaled, known * has_naive], dim=1)


def forecast_scores(counts: Tensor) -> dict[str, float]:
    """MAE and MASE from counts summed over windows, shape (4,).

    MASE is the mean of the scaled errors: Hyndman and Koehler 2006,
    https://doi.org/10.1016/j.ijforecast.2006.03.001
    """
    errors, known, scaled, with_naive = counts.tolist()
    return {"mae": errors / known, "mase": scaled / with_naive if with_naive else nan}


def format_metrics(metrics: dict[str, float]) -> str:
    return " | ".join(f"{name} {value:.5g}" for name, value in metrics.items())
