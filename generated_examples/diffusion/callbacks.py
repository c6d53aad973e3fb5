"""Objects that the loop calls during training. Each keeps its own state."""

import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from accelerate import PartialState
from matplotlib.figure import Figure
from torch import nn

from metrics import log


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
                color = COLORS.get(name.partition("_")[0], "gray")
                axes.plot(*zip(*points, strict=True), marker=".", label=name, color=color)
            axes.set(xlabel="step", ylabel=panel)
            axes.legend()
        figure.savefig(self.target)
