"""Objects that the loop calls during training. Each keeps its own state."""

import json
from collections import defaultdict
from pathlib import Path

from accelerate import PartialState
from matplotlib.figure import Figure

from metrics import log

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
