"""The training loss, and how metrics are printed."""

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


def format_metrics(metrics: dict[str, float]) -> str:
    return " | ".join(f"{name} {value:.5g}" for name, value in metrics.items())
