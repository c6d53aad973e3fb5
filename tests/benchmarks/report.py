"""The tables and the picture of the README, from results.json: run after run.py."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
README = HERE.parent.parent / "README.md"
TABLES = HERE / "RESULTS.md"
PICTURE = HERE / "steps.png"
BEGIN, END = "<!-- benchmarks -->\n", "<!-- end of benchmarks -->\n"
Results = dict[str, Any]


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def steps_table(results: Results, spread: bool) -> str:
    """Cost of a step, as ratios to the bare loop: medians, with quartiles if asked for."""
    names = list(results["steps"][0]["ratios"])
    rows = []
    for row in results["steps"]:
        cells = []
        for name in names:
            low, middle, high = row["ratios"].get(name, [0, 0, 0])
            text = f"{middle:.2f}" + (f" ({low:.2f} to {high:.2f})" if spread else "")
            if name == "scaffold":
                text = f"**{text}**"
            cells.append(text if middle else "")
        rows.append([f"{row['model']}, {row['option']}", f"{row['bare_us']:.0f} µs", *cells])
    return table(["", "bare loop", *names], rows)


def parts_table(results: Results) -> str:
    found = results["parts"]
    rows = [
        [name, f"{middle:.3f} ({low:.3f} to {high:.3f})"]
        for name, (low, middle, high) in found.items()
    ]
    return table(["parts of the generated loop that are in", "ratio to the bare loop"], rows)


def one_row(title: str, cells: dict[str, str]) -> str:
    return table(["", *cells], [[title, *cells.values()]])


def startup_table(results: Results) -> str:
    found = results["startup"]["first step"]
    cells = {name: f"{row['seconds']:.1f} s ({row['ratio']:.2f})" for name, row in found.items()}
    return one_row("start to first step", cells)


def memory_table(results: Results) -> str:
    found = results["memory"]
    header = [f"{int(samples):,} samples" for samples in next(iter(found.values()))]
    rows = [[way, *(f"{value:.0f} MB" for value in row.values())] for way, row in found.items()]
    return table(["an evaluation adds", *header], rows)


def commands_table(results: Results) -> str:
    found = results["commands"]
    names = list(dict.fromkeys(name for row in found.values() for name in row))
    rows = [
        [command, *(f"{row[name]['seconds']:.2f} s" if name in row else "" for name in names)]
        for command, row in found.items()
    ]
    return table(["", *names], rows)


def checkpoints_table(results: Results) -> str:
    cells = {name: f"{seconds:.2f} s" for name, seconds in results["checkpoints"].items()}
    return one_row("a checkpoint of 300 MB", cells)


def scale_table(results: Results) -> str:
    speeds, costs = results["scale"]["samples_per_second"], results["scale"]["step_us"]
    cells = {f"{count} process(es)": f"{speed} samples/s" for count, speed in speeds.items()}
    cells |= {f"first {count} steps": f"{cost} µs each" for count, cost in costs.items()}
    return one_row("small CNN; tiny MLP", cells)


def signals_table(results: Results) -> str:
    costs = results["signals"]
    cells = [f"{cost} µs" for cost in costs.values()]
    return table(["2 processes", *costs], [["a step of the tiny MLP", *cells]])


def images_table(results: Results) -> str:
    header = [
        "loader",
        "images per second",
        "processor, per image",
        "speed of scaffold, relative to it",
    ]
    rows = [
        [
            name,
            f"{row['images_per_second']}",
            f"{row['processor_ms']:.2f} ms",
            f"{row['scaffold']:.2f} ({row['scaffold_processor']:.2f} by the processor)",
        ]
        for name, row in results["images"].items()
    ]
    return table(header, rows)


def machine_lines(results: Results, names: Collection[str]) -> str:
    """When and where these were measured, a line for each machine and day."""
    measured: dict[str, list[str]] = {}
    for name in names:
        machine = results["machines"][name]
        versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
        line = (
            f"{machine['date']}, {machine['processor']}, {machine['cores']} cores, one thread "
            f"pinned; Python {machine['python']}, {versions}"
        )
        measured.setdefault(line, []).append(name)
    return "\n".join(f"- {', '.join(found)}: {line}." for line, found in measured.items()) + "\n"


def draw_steps(results: Results) -> None:
    """Bars of the ratios of each row, one panel for each model."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    models = list(dict.fromkeys(row["model"] for row in results["steps"]))
    names = list(results["steps"][0]["ratios"])
    figure, panels = plt.subplots(len(models), 1, figsize=(9, 7), sharex=True)
    for panel, model in zip(panels, models, strict=True):
        rows = [row for row in results["steps"] if row["model"] == model]
        width = 0.8 / len(names)
        for number, name in enumerate(names):
            values = [row["ratios"].get(name, [0, 0, 0]) for row in rows]
            places = [place + (number - (len(names) - 1) / 2) * width for place in range(len(rows))]
            errors = [
                [middle - low for low, middle, _ in values],
                [high - middle for _, middle, high in values],
            ]
            panel.bar(places, [v[1] for v in values], width, yerr=errors, label=name)
        panel.axhline(1, color="black", linewidth=0.8)
        panel.set_ylabel(f"{model}\ntimes the bare loop")
        panel.set_xticks(range(len(rows)), [row["option"] for row in rows])
        panel.set_ylim(bottom=0.8)
    panels[0].legend(ncols=4, fontsize="small", frameon=False)
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=110, metadata={"Software": None})
    plt.close(figure)


def all_tables(results: Results) -> str:
    """All measurements, for the page beside the benchmarks."""
    return "\n".join(
        [
            "# What was measured\n",
            machine_lines(results, results["machines"]),
            "## A step, as ratios to the bare loop: median of the rounds (quartiles)\n",
            steps_table(results, spread=True),
            "![cost of a step](steps.png)\n",
            "## What the tiny model pays for: each part alone, with PyTorch's own for the others\n",
            parts_table(results),
            "## Start of a process to its first step, and its ratio to the bare script's\n",
            startup_table(results),
            "## Memory of an evaluation\n",
            memory_table(results),
            "## How long training stands still\n",
            checkpoints_table(results),
            "## Commands\n",
            commands_table(results),
            "## Scale\n",
            scale_table(results),
            "## Preemption: processes that ask each other whether one was told to stop\n",
            signals_table(results),
            "## Images from a folder of JPEGs: 960 of 500 x 375 pixels, two data workers\n",
            images_table(results),
        ]
    )


def readme_part(results: Results) -> str:
    """The part of the README: the cost of a plain step, and where the rest is."""
    plain = {**results, "steps": [row for row in results["steps"] if row["option"] == "plain"]}
    return "\n".join(
        [
            steps_table(plain, spread=False),
            "![cost of a step](tests/benchmarks/steps.png)\n",
            memory_table(results),
            commands_table(results),
            machine_lines(results, ["steps", "memory", "commands"]),
        ]
    )


def main() -> None:
    results = json.loads((HERE / "results.json").read_text())
    TABLES.write_text(all_tables(results), encoding="utf-8")
    draw_steps(results)
    text = README.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{README} has no place for them: the lines {BEGIN}and {END}")
    README.write_text(before + begin + readme_part(results) + end + after, encoding="utf-8")


if __name__ == "__main__":
    main()
