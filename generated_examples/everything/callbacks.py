"""Objects that the loop calls during training. Each keeps its own state."""

import csv
import json
import math
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import psutil
import torch
from accelerate import Accelerator, PartialState
from matplotlib.figure import Figure
from torch import nn

from metrics import Progress, RunningLoss, log
from weights import load_weights, save_weights


class BestModel:
    """Saves the weights with the best score so far. Higher is better."""

    def __init__(self, accelerator: Accelerator, path: Path) -> None:
        self.accelerator, self.path = accelerator, path
        self.score = float("-inf")

    def update(self, score: float, model: nn.Module) -> None:
        """Save the weights if the score is better. Call it on all processes."""
        if score > self.score:  # always false for NaN
            save_weights(self.accelerator, model, self.path)
            self.score = float(score)

    def load(self, model: nn.Module) -> None:
        """Load the best weights, if there are any. Call it on all processes."""
        if self.score > float("-inf"):
            load_weights(self.accelerator, model, self.path)

    def state_dict(self) -> dict:
        return {"score": self.score}

    def load_state_dict(self, state: dict) -> None:
        self.score = state["score"]


class EarlyStopping:
    """Stops a run after `patience` evaluations without a better score. Higher is better."""

    def __init__(self, patience: int, min_delta: float) -> None:
        self.patience, self.min_delta = patience, min_delta
        self.best, self.stale = float("-inf"), 0

    @property
    def should_stop(self) -> bool:
        return 0 < self.patience <= self.stale

    def update(self, score: float) -> None:
        if score > self.best + self.min_delta:
            self.best, self.stale = score, 0
        else:
            self.stale += 1

    def state_dict(self) -> dict:
        return {"best": self.best, "stale": self.stale}

    def load_state_dict(self, state: dict) -> None:
        self.best, self.stale = state["best"], state["stale"]


class Ema:
    """An exponential moving average of the weights of an unwrapped model, but not of its buffers.

    It starts with the weights after the first step. At first its decay is lower than `decay`,
    as in TensorFlow's ExponentialMovingAverage does with num_updates.
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.weights = list(model.parameters())
        self.average: list[torch.Tensor] = []
        self.decay, self.steps = decay, 0

    @torch.no_grad()
    def update(self) -> None:
        self.steps += 1
        if self.average:
            decay = min(self.decay, (1 + self.steps) / (10 + self.steps))
            torch._foreach_lerp_(self.average, self.weights, 1 - decay)
        else:
            self.average = [weight.detach().clone() for weight in self.weights]

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Swap the averaged weights in, and the model's own weights back afterwards."""
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
        return {"average": self.average, "steps": self.steps}

    def load_state_dict(self, state: dict) -> None:
        self.average = [
            value.to(weight.device)
            for weight, value in zip(self.weights, state["average"], strict=True)
        ]
        self.steps = state["steps"]


COLORS = {"train": "C0", "val": "C1", "test": "C2"}


class LearningCurves:
    """Plots the metrics file, with one panel for train_loss, val_loss and test_loss."""

    def __init__(self, source: Path, target: Path) -> None:
        self.source, self.target = source, target

    def draw(self) -> None:
        """Draw all curves. If that fails, the run continues without them."""
        if not PartialState().is_main_process:
            return
        try:
            self.draw_panels()
        except Exception as error:  # noqa: BLE001, plotting must never end a run
            log(f"{self.target} was not drawn: {error!r}")

    def draw_panels(self) -> None:
        lines = [json.loads(line) for line in self.source.read_text().splitlines()]
        names = dict.fromkeys(name for line in lines for name in line if name != "step")
        panels = defaultdict(list)
        for name in names:
            part, _, metric = name.partition("_")
            panels[metric if part in COLORS else name].append(name)
        figure = Figure(figsize=(5 * len(panels), 4), layout="constrained")
        row = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, (panel, members) in zip(row, panels.items(), strict=True):
            for name in members:
                points = [(line["step"], line[name]) for line in lines if name in line]
                scored = [line for line in lines if "val_accuracy" in line]
                if name.startswith("test_") and scored:  # the tested weights are the best ones
                    best = max(scored, key=lambda line: line["val_accuracy"])
                    points = [(best["step"], value) for _, value in points]
                color = COLORS.get(name.partition("_")[0], "gray")
                axes.plot(*zip(*points, strict=True), marker=".", label=name, color=color)
            axes.set(xlabel="step", ylabel=panel)
            axes.legend()
        figure.savefig(self.target)


class PredictionsFile:
    """The predictions of the last evaluation as CSV, one line per sample, in the order of the set.

    add() gets batches that are gathered from all processes, in order and without padding.
    """

    def __init__(self) -> None:
        self.batches: list[tuple[torch.Tensor, torch.Tensor]] = []

    def clear(self) -> None:
        self.batches.clear()

    def add(self, labels: torch.Tensor, predictions: torch.Tensor) -> None:
        self.batches.append((labels, predictions))

    def write(self, path: Path) -> None:
        """Write index, label and prediction of each sample. Only the main process calls it."""
        columns = [torch.cat(column).tolist() for column in zip(*self.batches, strict=True)]
        with path.open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["index", "label", "prediction"])
            rows.writerows(zip(range(len(columns[0])), *columns, strict=True))


class Profiler:
    """Records a few steps: profile_0.json of process 0 is a trace, and profile_0.txt a table."""

    def __init__(self, accelerator, config) -> None:
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
        """Call it after each step."""
        if self.left:
            self.left -= 1
            self.profile.step()
            if not self.left:
                self.profile.stop()

    def stop(self) -> None:
        """Write the recorded steps if the run ended early."""
        if self.left:
            self.profile.stop()

    def write(self, profile: torch.profiler.profile) -> None:
        profile.export_chrome_trace(f"{self.path}.json")
        table = profile.key_averages().table(sort_by=self.order, row_limit=20)
        Path(f"{self.path}.txt").write_text(table)


def stop_on_nan(loss: float, step: int) -> None:
    """End the run if the loss is not finite, before the weights are saved. All processes agree."""
    if not math.isfinite(loss):
        raise SystemExit(
            f"The loss is {loss} at step {step}: try a lower learning rate, and check the data."
        )


class StopOnSpike:
    """Ends the run if the loss is far above the running average of earlier losses.

    An average of 0 or less is no measure: then nothing ends. The loss is the same on all
    processes, so all end together. Chowdhery et al. 2022,
    https://arxiv.org/abs/2204.02311, section 5.1, describe what to do then.
    """

    def __init__(self, factor: float, min_reads: int = 5) -> None:
        self.factor, self.min_reads = factor, min_reads
        self.average, self.reads = 0.0, 0

    def check(self, loss: float, step: int) -> None:
        if self.reads >= self.min_reads and loss > self.factor * self.average > 0:
            raise SystemExit(
                f"The loss is {loss:.4g} at step {step}, and was {self.average:.4g} on average: "
                "check the data, or start a new run with a lower learning rate."
            )
        self.reads += 1
        # the mean of the first ten, then an exponential average
        self.average += (loss - self.average) / min(self.reads, 10)

    def state_dict(self) -> dict:
        return {"average": self.average, "reads": self.reads}

    def load_state_dict(self, state: dict) -> None:
        self.average, self.reads = state["average"], state["reads"]


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
