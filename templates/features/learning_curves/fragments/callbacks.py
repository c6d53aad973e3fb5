import json
from pathlib import Path

from matplotlib.figure import Figure

#: slot classes
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
