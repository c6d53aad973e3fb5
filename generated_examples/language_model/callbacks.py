"""Small objects that the loop calls by name: no base class, no event system."""

import json
import math
import time
from datetime import timedelta
from pathlib import Path

import psutil
import torch
from accelerate import Accelerator
from matplotlib.figure import Figure
from torch import nn

from checkpoint import Progress, writing
from metrics import RunningLoss
from model import build_tokenizer


@torch.no_grad()
def write_sample(model: nn.Module, config, path: Path, length: int = 200) -> None:
    """Write a text that the model makes up, of so many tokens.

    It has a seed of its own, so that training draws the same random numbers as without it.
    """
    tokenizer = build_tokenizer(config)
    device = next(model.parameters()).device
    generator = torch.Generator().manual_seed(0)
    tokens = torch.tensor([[tokenizer.end]])
    model.eval()
    for _ in range(length):
        logits = model(tokens[:, -config.context :].to(device))[:, -1]
        token = torch.multinomial(logits.softmax(dim=-1).cpu(), 1, generator=generator)
        tokens = torch.cat([tokens, token], dim=1)
    model.train()
    with writing(path):
        path.write_text(tokenizer.decode(tokens[0].tolist()), encoding="utf-8")


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


def stop_on_nan(loss: float, progress: Progress) -> None:
    """Stop before such weights are evaluated or saved; the loss is the same on all processes."""
    if not math.isfinite(loss):
        raise SystemExit(
            f"The loss is {loss} at update {progress.update}: take a lower learning rate, or look "
            "at the data. The checkpoints are from before."
        )


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
        self.read_at, self.seen = time.monotonic(), self.train_loss.epoch_tokens

    def read(self) -> str:
        """A line about the time since the last one, once the loss has been read."""
        now, seen = time.monotonic(), self.train_loss.epoch_tokens
        speed = (seen - self.seen) / (now - self.read_at)
        self.read_at, self.seen = now, seen
        done = self.progress.update - self.first_update
        left = (now - self.began) * (self.total_updates - self.progress.update) / done
        memory = f"{used_memory(self.device) / 2**30:.2f} GiB"
        # the test that compares logs leaves out what begins with "speed"
        return f"speed {speed:.0f} tokens/s | {timedelta(seconds=round(left))} left | {memory}"


def used_memory(device: torch.device) -> int:
    """Bytes: the most that tensors have taken on a GPU, or what the process takes now."""
    if device.type == "cpu":
        return psutil.Process().memory_info().rss
    return torch.accelerator.max_memory_allocated(device)
