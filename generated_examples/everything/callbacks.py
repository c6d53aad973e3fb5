"""Small objects that the loop calls by name: no base class, no event system."""

import csv
import json
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import psutil
import torch
from accelerate import Accelerator
from matplotlib.figure import Figure
from torch import nn

from checkpoint import Progress, writing
from metrics import RunningLoss


class BestModel:
    """Remembers the best score so far, of which more is better, and where its weights are."""

    def __init__(self, path: Path) -> None:
        self.path, self.best = path, float("-inf")

    def improved(self, score: float) -> bool:
        """Whether this score is the best so far."""
        if not score > self.best:  # nor is NaN an improvement
            return False
        self.best = score
        return True

    @property
    def found(self) -> bool:
        """Whether there is one: a run may stop before its first evaluation, or see only NaN."""
        return self.best > float("-inf")

    def state_dict(self) -> dict:
        return {"best": self.best}

    def load_state_dict(self, state: dict) -> None:
        if self.path.exists():  # not so in another folder: there the best is of what comes
            self.best = state["best"]


class EarlyStopping:
    """Counts the evaluations since the score, of which more is better, last improved."""

    def __init__(self, patience: int, min_delta: float) -> None:
        self.patience, self.min_delta = patience, min_delta
        self.best, self.stale = float("-inf"), 0

    @property
    def stop(self) -> bool:
        return self.stale >= self.patience

    def step(self, score: float) -> None:
        if score > self.best + self.min_delta:
            self.best, self.stale = score, 0
        else:
            self.stale += 1

    def state_dict(self) -> dict:
        return {"best": self.best, "stale": self.stale}

    def load_state_dict(self, state: dict) -> None:
        self.best, self.stale = state["best"], state["stale"]


class Ema:
    """An exponential moving average of the weights of an unwrapped model.

    It begins with the weights after the first update, and forgets faster in the beginning, as
    TensorFlow's ExponentialMovingAverage does with num_updates. Buffers are not averaged.
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.weights = list(model.parameters())
        self.average: list[torch.Tensor] = []
        self.decay, self.updates = decay, 0

    @torch.no_grad()
    def update(self) -> None:
        self.updates += 1
        if self.average:
            decay = min(self.decay, (1 + self.updates) / (10 + self.updates))
            torch._foreach_lerp_(self.average, self.weights, 1 - decay)
        else:
            self.average = [weight.detach().clone() for weight in self.weights]

    @contextmanager
    def applied(self) -> Iterator[None]:
        """The model has the averaged weights inside, and its own again afterwards."""
        own = [weight.detach().clone() for weight in self.weights]
        self.copy(self.average or own)
        try:
            yield
        finally:
            self.copy(own)

    @torch.no_grad()
    def copy(self, values: list[torch.Tensor]) -> None:
        for weight, value in zip(self.weights, values, strict=True):
            weight.copy_(value)

    def state_dict(self) -> dict:
        return {"average": self.average, "updates": self.updates}

    def load_state_dict(self, state: dict) -> None:
        self.average = [
            value.to(weight.device)
            for weight, value in zip(self.weights, state["average"], strict=True)
        ]
        self.updates = state["updates"]


class MetricsFile:
    """Adds a line of JSON for each epoch, and one for the test.

    A checkpoint knows how long the file was: a resumed run writes later lines anew. In another
    folder it begins a file of its own.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.size = path, 0

    def __call__(self, progress: Progress, metrics: dict[str, float]) -> None:
        line = json.dumps({"update": progress.update, **metrics}) + "\n"
        with writing(self.path), self.path.open("ab") as file:
            kept = min(self.size, file.tell())
            file.truncate(kept)
            file.write(line.encode())
        self.size = kept + len(line)  # all of it is ASCII

    def state_dict(self) -> dict:
        return {"size": self.size}

    def load_state_dict(self, state: dict) -> None:
        self.size = state["size"]


class LearningCurves:
    """Draws the metrics file, so it is called after that.

    What differs only in its set has one panel: train_loss, val_loss and test_loss that of "loss".
    """

    def __init__(self, source: Path, target: Path) -> None:
        self.source, self.target = source, target

    def __call__(self) -> None:
        lines = [json.loads(line) for line in self.source.read_text(encoding="utf-8").splitlines()]
        panels: dict[str, list[str]] = {}
        for name in dict.fromkeys(name for line in lines for name in line if name != "update"):
            panels.setdefault(name.partition("_")[2] or name, []).append(name)
        figure = Figure(figsize=(5 * len(panels), 4), layout="constrained")
        row = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, (panel, names) in zip(row, panels.items(), strict=True):
            for name in names:
                points = [(line["update"], line[name]) for line in lines if name in line]
                axes.plot(*zip(*points, strict=True), marker=".", label=name)
            axes.set(xlabel="update", ylabel=panel)
            axes.legend()
        figure.savefig(self.target)


class PredictionsFile:
    """What the last evaluation predicted, as CSV: a line for each sample, in the order of the set.

    Batches come here gathered from all processes, in their order and without padding.
    """

    def __init__(self) -> None:
        self.batches: list[tuple[torch.Tensor, torch.Tensor]] = []

    def clear(self) -> None:
        self.batches.clear()

    def add(self, labels: torch.Tensor, predictions: torch.Tensor) -> None:
        self.batches.append((labels, predictions))

    def write(self, path: Path) -> None:
        """Write index, label and prediction of each sample. The main process calls it alone."""
        columns = [torch.cat(column).tolist() for column in zip(*self.batches, strict=True)]
        with writing(path), path.open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["index", "label", "prediction"])
            rows.writerows(zip(range(len(columns[0])), *columns, strict=True))


class Profiler:
    """Records a few updates, writes them to PATH.json as a trace and to PATH.txt as a table."""

    def __init__(self, accelerator: Accelerator, config) -> None:
        self.path = config.output_dir / f"profile_{accelerator.process_index}"
        on_cpu = accelerator.device.type == "cpu"
        self.order = "self_cpu_time_total" if on_cpu else "self_device_time_total"
        wait, warmup, active = config.profiler_wait, config.profiler_warmup, config.profiler_active
        self.left = wait + warmup + active
        schedule = torch.profiler.schedule(wait=wait, warmup=warmup, active=active, repeat=1)
        self.profile = torch.profiler.profile(schedule=schedule, on_trace_ready=self.write)

    def start(self) -> None:
        self.profile.start()

    def step(self) -> None:
        """An update is over, perhaps the last one that is recorded."""
        if self.left:
            self.left -= 1
            self.profile.step()
            if not self.left:
                self.profile.stop()

    def stop(self) -> None:
        """End a run that had fewer updates: it writes what there is."""
        if self.left:
            self.profile.stop()

    def write(self, profile: torch.profiler.profile) -> None:
        with writing(self.path):
            profile.export_chrome_trace(f"{self.path}.json")
            table = profile.key_averages().table(sort_by=self.order, row_limit=20)
            Path(f"{self.path}.txt").write_text(table)


def stop_on_nan(loss: float, progress: Progress) -> None:
    """Stop before such weights are evaluated or saved; the loss is the same on all processes."""
    if not math.isfinite(loss):
        raise SystemExit(
            f"The loss is {loss} at update {progress.update}: take a lower learning rate, or look "
            "at the data. The checkpoints are from before."
        )


class StopOnSpike:
    """Ends the run where the loss is far above the running average of those read before.

    The loss is the same on all processes, so all end together. Chowdhery et al. 2022,
    https://arxiv.org/abs/2204.02311, section 5.1, say what to do then.
    """

    def __init__(self, factor: float, min_reads: int = 5) -> None:
        self.factor, self.min_reads = factor, min_reads
        self.average, self.reads = 0.0, 0

    def step(self, loss: float, progress: Progress) -> None:
        if self.reads >= self.min_reads and loss > self.factor * self.average:
            raise SystemExit(
                f"The loss is {loss:.4g} at update {progress.update}, after {self.average:.4g} on "
                "average: resume an earlier checkpoint with a lower learning rate, or look at the "
                "data."
            )
        self.reads += 1
        # the mean of the first ten, then an exponential average
        self.average += (loss - self.average) / min(self.reads, 10)

    def state_dict(self) -> dict:
        return {"average": self.average, "reads": self.reads}

    def load_state_dict(self, state: dict) -> None:
        self.average, self.reads = state["average"], state["reads"]


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
