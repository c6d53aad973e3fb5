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


def format_metrics(metrics: dict[str, float]) -> str:
    return " | ".join(f"{name} {value:.4f}" for name, value in metrics.items())
