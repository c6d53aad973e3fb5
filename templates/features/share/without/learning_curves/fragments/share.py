from collections import defaultdict

from matplotlib.figure import Figure

#: slot functions
def draw_curves(lines: list[dict], path: Path) -> None:
    """A panel for each metric, with a curve for each set."""
    panels = defaultdict(list)
    for name in dict.fromkeys(name for line in lines for name in line if name != "step"):
        part, _, metric = name.partition("_")
        panels[metric if part in ("train", "val", "test") else name].append(name)
    figure = Figure(figsize=(4 * len(panels), 3.5), layout="constrained")
    row = figure.subplots(1, len(panels), squeeze=False)[0]
    for axes, (panel, names) in zip(row, panels.items(), strict=True):
        for name in names:
            points = [(line["step"], line[name]) for line in lines if name in line]
            axes.plot(*zip(*points, strict=True), marker=".", label=name)
        axes.set(xlabel="step", ylabel=panel)
        axes.legend()
    figure.savefig(path)

#: replace pictures
lines = read_run(run)[2]
shown = [*copies, *(["curves.png"] if lines else [])]

#: slot drawn
if lines:
    draw_curves(lines, scratch / "curves.png")
