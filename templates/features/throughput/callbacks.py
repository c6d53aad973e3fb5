import time
from datetime import timedelta

import psutil
import torch
from accelerate import Accelerator

from metrics import RunningLoss
from metrics import Progress
from utilization import peak_flops

#: slot classes
#: region throughput
class Throughput:
    """Samples per second, the remaining time, and the memory in use."""

    def __init__(
        self,
        accelerator: Accelerator,
        train_loss: RunningLoss,
        progress: Progress,
        total_steps: int,
    ) -> None:
        self.device, self.train_loss = accelerator.device, train_loss
        self.progress, self.total_steps = progress, total_steps
        self.began, self.first_step = time.monotonic(), None
        self.processes = accelerator.num_processes

    def start_epoch(self) -> None:
        """Leave evaluations and checkpoints out of the speed."""
        if self.first_step is None:
            self.first_step = self.progress.step  # not 0 after a resume
        unread = float(self.train_loss.sums[1]) * self.processes  # not 0 after a resume
        self.read_at, self.seen = time.monotonic(), self.train_loss.epoch_samples + unread

    def read(self) -> str:
        """A line about the steps since the last call. Read the loss first."""
        now, seen = time.monotonic(), self.train_loss.epoch_samples
        speed = (seen - self.seen) / (now - self.read_at)
        self.read_at, self.seen = now, seen
        done = self.progress.step - self.first_step
        left = (now - self.began) * (self.total_steps - self.progress.step) / done
        memory = f"{used_memory(self.device) / 2**30:.2f} GiB"
        # the tests leave out lines that begin with "speed": they differ from run to run
        return f"speed {speed:.0f} samples/s | {timedelta(seconds=round(left))} left | {memory}"


def used_memory(device: torch.device) -> int:
    """Bytes: the peak of all tensors on a GPU, or what the process uses now."""
    if device.type == "cpu":
        return psutil.Process().memory_info().rss
    return torch.accelerator.max_memory_allocated(device)
#: end throughput

#: replace throughput with throughput with tokens
class Throughput:
    """Tokens per second, the remaining time, and the memory in use."""

    def __init__(
        self,
        accelerator: Accelerator,
        train_loss: RunningLoss,
        progress: Progress,
        total_steps: int,
        #: slot parameters
    ) -> None:
        self.device, self.train_loss = accelerator.device, train_loss
        self.progress, self.total_steps = progress, total_steps
        self.began, self.first_step = time.monotonic(), None
        self.processes = accelerator.num_processes
        #: slot started

    def start_epoch(self) -> None:
        """Leave evaluations and checkpoints out of the speed."""
        if self.first_step is None:
            self.first_step = self.progress.step  # not 0 after a resume
        unread = float(self.train_loss.sums[1]) * self.processes  # not 0 after a resume
        self.read_at, self.seen = time.monotonic(), self.train_loss.epoch_tokens + unread

    def read(self) -> str:
        """A line about the steps since the last call. Read the loss first."""
        now, seen = time.monotonic(), self.train_loss.epoch_tokens
        speed = (seen - self.seen) / (now - self.read_at)
        self.read_at, self.seen = now, seen
        done = self.progress.step - self.first_step
        left = (now - self.began) * (self.total_steps - self.progress.step) / done
        memory = f"{used_memory(self.device) / 2**30:.2f} GiB"
        #: slot measured
        # the tests leave out lines that begin with "speed": they differ from run to run
        return f"speed {speed:.0f} tokens/s | {timedelta(seconds=round(left))} left | {memory}"


def used_memory(device: torch.device) -> int:
    """Bytes: peak memory of tensors on a GPU, or the current memory of the process."""
    if device.type == "cpu":
        return psutil.Process().memory_info().rss
    return torch.accelerator.max_memory_allocated(device)

#: slot parameters when utilization=model_flops
token_flops: int,

#: slot started when utilization=model_flops
self.token_flops = token_flops
self.peak_flops = peak_flops(accelerator.device)

#: slot measured when utilization=model_flops
if self.peak_flops:
    mfu = speed * self.token_flops / (self.peak_flops * self.processes)
    memory = f"{memory} | MFU {mfu:.1%}"
