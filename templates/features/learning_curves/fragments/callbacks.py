import json
from pathlib import Path

from matplotlib.figure import Figure

#: slot classes
class LearningCurves:
    """Draws the metrics file, so it is called after that."""

    def __init__(self, source: Path, target: Path) -> None:
        self.source, self.target = source, target

    def __call__(self) -> None:
        lines = [json.loads(line) for line in self.source.read_text(encoding="utf-8").splitlines()]
        figure = Figure(figsize=(10, 4), layout="constrained")
        for axes, unit in zip(figure.subplots(1, 2), ["loss", "accuracy"], strict=True):
            for name in [name for name in lines[0] if name.endswith(unit)]:
                points = [(line["update"], line[name]) for line in lines if name in line]
                axes.plot(*zip(*points, strict=True), marker=".", label=name)
            axes.set(xlabel="update", ylabel=unit)
            axes.legend()
        figure.savefig(self.target)
