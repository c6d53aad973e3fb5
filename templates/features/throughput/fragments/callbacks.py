import time
from datetime import timedelta

import psutil
import torch
from accelerate import Accelerator
from checkpoint import Progress
from metrics import RunningLoss

#: slot classes
class Throughput:
    """How fast training is, how long it still takes, and how much memory it needs."""

    def __init__(
        self,
        accelerator: Accelerator,
        train_loss: RunningLoss,
        progress: Progress,
        total_updates: int,
    ) -> None:
        self.device, self.train_loss = accelerator.device, train_loss
        self.progress, self.total_updates = progress, total_updates
        self.began, self.first_update = time.monotonic(), None

    def start_epoch(self) -> None:
        """Evaluations and checkpoints since the last epoch do not count as training."""
        if self.first_update is None:
            self.first_update = self.progress.update  # not 0 after a resume
        self.read_at, self.seen = time.monotonic(), self.train_loss.epoch_samples

    def read(self) -> str:
        """A line about the time since the last one, once the loss has been read."""
        now, seen = time.monotonic(), self.train_loss.epoch_samples
        speed = (seen - self.seen) / (now - self.read_at)
        self.read_at, self.seen = now, seen
        done = self.progress.update - self.first_update
        left = (now - self.began) * (self.total_updates - self.progress.update) / done
        memory = f"{used_memory(self.device) / 2**30:.2f} GiB"
        # the test that compares logs leaves out what begins with "speed"
        return f"speed {speed:.0f} samples/s | {timedelta(seconds=round(left))} left | {memory}"


def used_memory(device: torch.device) -> int:
    """Bytes: the most that tensors have taken on a GPU, or what the process takes now."""
    if device.type == "cpu":
        return psutil.Process().memory_info().rss
    return torch.accelerator.max_memory_allocated(device)
