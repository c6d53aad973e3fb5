"""Objects that the loop calls during training. Each keeps its own state."""

import json
import time
from collections import defaultdict
from datetime import timedelta
from pathlib import Path

import psutil
import torch
from accelerate import Accelerator, PartialState
from matplotlib.figure import Figure

from data import Sample, find_ends, split_at_answer
from generation import generate
from metrics import Progress, RunningLoss, log
from model import build_tokenizer


def write_sample(model, config, examples: list[Sample], path, length: int = 100) -> None:
    """Write the answers of the model in some conversations, below those of the data.

    Says how many are those of the data, and how many end: other metrics take the true tokens before
    each one, so they can't tell.
    """
    tokenizer, texts, right, ended, ends = build_tokenizer(config), [], 0, 0, find_ends(config)
    device = next(model.parameters()).device
    prompts, answers = zip(*map(split_at_answer, examples), strict=True)
    model.eval()
    written = generate(model, prompts, ends, config.context, length, device)
    model.train()
    for prompt, answer, tokens in zip(prompts, answers, written, strict=True):
        right += tokens == [token for token in answer if token not in ends]
        ended += len(tokens) < min(length, config.context - len(prompt))
        texts += [tokenizer.show(prompt), f"data:  {tokenizer.decode(answer)}"]
        texts += [f"model: {tokenizer.decode(tokens)}", ""]
    if examples:
        log(f"of {len(examples)} generated answers, {right} are those of the data, and {ended} end")
    path.write_text("\n".join(texts), encoding="utf-8")


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
                color = COLORS.get(name.partition("_")[0], "gray")
                axes.plot(*zip(*points, strict=True), marker=".", label=name, color=color)
            axes.set(xlabel="step", ylabel=panel)
            axes.legend()
        figure.savefig(self.target)


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
