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


def confusion_matrix(predictions: torch.Tensor, labels: torch.Tensor, classes: int) -> torch.Tensor:
    """The number of samples, shape (true class, predicted class)."""
    counts = labels.new_zeros(classes, classes)
    return counts.index_put_((labels, predictions), labels.new_ones(()), accumulate=True)


def classification_scores(confusion: torch.Tensor) -> dict[str, float]:
    """Accuracy, F1 and Matthews' correlation of counts, shape (true class, predicted class).

    F1 is macro F1: the mean over the classes that occur or are predicted. The correlation is the
    one for several classes: Gorodkin 2004, https://doi.org/10.1016/j.compbiolchem.2004.09.006
    """
    counts = confusion.cpu().double()
    true, predicted, hits, total = counts.sum(1), counts.sum(0), counts.diag(), counts.sum()
    occurs = true + predicted > 0
    covariance = total * hits.sum() - true @ predicted
    spread = ((total**2 - true @ true) * (total**2 - predicted @ predicted)).sqrt()
    return {
        "accuracy": float(hits.sum() / total),
        "f1": float((2 * hits[occurs] / (true + predicted)[occurs]).mean()),
        "matthews": float(covariance / spread) if spread else 0.0,
    }


def format_metrics(metrics: dict[str, float]) -> str:
    return " | ".join(f"{name} {value:.5g}" for name, value in metrics.items())
