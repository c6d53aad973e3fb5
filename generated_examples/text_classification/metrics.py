"""What is measured while training."""

import torch
from accelerate import Accelerator


class RunningLoss:
    """The mean training loss of a sample, over all processes.

    Losses are summed on the device and read only now and then, because reading waits for it.
    """

    def __init__(self, accelerator: Accelerator) -> None:
        self.accelerator = accelerator
        self.unread, self.unread_samples = torch.zeros((), device=accelerator.device), 0
        self.epoch, self.epoch_samples = 0.0, 0.0  # what was read since the epoch began

    def add(self, loss: torch.Tensor, samples: int) -> None:
        """Count the mean loss of so many samples."""
        self.unread.add_(loss.detach(), alpha=samples)
        self.unread_samples += samples

    def read(self) -> float:
        """The mean since the last time. All processes call it together."""
        samples = torch.full_like(self.unread, self.unread_samples)
        total = self.accelerator.reduce(torch.stack([self.unread, samples]), "sum").tolist()
        self.unread.zero_()
        self.unread_samples = 0
        self.epoch += total[0]
        self.epoch_samples += total[1]
        return total[0] / max(total[1], 1)

    def end_epoch(self) -> float:
        """The mean of the epoch. All processes call it together."""
        self.read()
        mean = self.epoch / max(self.epoch_samples, 1)
        self.epoch, self.epoch_samples = 0.0, 0.0
        return mean

    def state_dict(self) -> dict:
        """The sums, those of each process apart. All processes call it together."""
        return {
            "unread": self.accelerator.gather(self.unread).reshape(-1).tolist(),
            "unread_samples": self.unread_samples,
            "epoch": self.epoch,
            "epoch_samples": self.epoch_samples,
        }

    def load_state_dict(self, state: dict) -> None:
        vars(self).update(state)
        unread = state["unread"][self.accelerator.process_index]
        self.unread = torch.tensor(unread, device=self.accelerator.device)


def confusion_matrix(predictions: torch.Tensor, labels: torch.Tensor, classes: int) -> torch.Tensor:
    """The number of samples, shape (true class, predicted class)."""
    counts = labels.new_zeros(classes, classes)
    return counts.index_put_((labels, predictions), labels.new_ones(()), accumulate=True)


def classification_scores(confusion: torch.Tensor) -> dict[str, float]:
    """Accuracy, F1 and Matthews' correlation of counts, shape (true class, predicted class).

    F1 is the mean over the classes that are there or are predicted (macro). The correlation is
    that for several classes: Gorodkin 2004, https://doi.org/10.1016/j.compbiolchem.2004.09.006
    """
    counts = confusion.cpu().double()
    true, predicted, hits, total = counts.sum(1), counts.sum(0), counts.diag(), counts.sum()
    there = true + predicted > 0
    covariance = total * hits.sum() - true @ predicted
    spread = ((total**2 - true @ true) * (total**2 - predicted @ predicted)).sqrt()
    return {
        "accuracy": float(hits.sum() / total),
        "f1": float((2 * hits[there] / (true + predicted)[there]).mean()),
        "matthews": float(covariance / spread) if spread else 0.0,
    }


def format_metrics(metrics: dict[str, float]) -> str:
    return " | ".join(f"{name} {value:.4f}" for name, value in metrics.items())
