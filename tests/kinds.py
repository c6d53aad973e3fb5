"""What people's files hold, in every task that reads such files: the grid of kinds and tasks.

`support/kinds.py` has the data sets and what happens to their files. README.md has the grid, which
`python tests/kinds.py` writes.
"""

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from support import shared, warm
from support.kinds import CARRIERS, GRIDS, ROW, Carrier, Trial
from support.trials import read_trials

README = Path(__file__).with_name("README.md")
BEGIN, END = "<!-- kinds -->\n", "<!-- end of kinds -->\n"
NONE = "–"  # it can't occur

# what came of a kind of a grid: right, refused, or what is wrong
Cells = dict[tuple[str, str], str]


def try_all(carrier: Carrier, folder: Path) -> Cells:
    """What a task makes of each kind of file, in one process."""
    trials = {
        (title, name): make(carrier)
        for title, table, carriers in GRIDS
        if carrier in carriers
        for name, make in table.items()
    }
    plain, calls = carrier.plain(), list[Trial]()
    for trial in trials.values():
        calls += [trial, trial.twin or plain] if trial else []
    results = iter(read_trials(carrier, calls, folder))
    return {
        key: judge(trial, next(results), next(results)) if trial else NONE
        for key, trial in trials.items()
    }


def judge(trial: Trial, found: dict[str, Any], twin: dict[str, Any]) -> str:
    """Whether files are read as their twin, or refused with the place."""
    if "failed" in found:
        return f"wrong: {found['failed']}"
    if "refused" in found:
        said = found["refused"]
        placed = re.search(trial.place, said) and (not trial.row or re.search(ROW, said))
        return "refused" if said and placed else f"wrong: refused without its place: {said}"
    assert "read" in twin, twin
    if found["read"] != twin["read"]:
        return f"wrong: read as something else. {found['said']}{found['lines']}"
    if trial.said not in found["said"] + found["lines"]:
        return f"wrong: {trial.said} is not said, but {found['said']}{found['lines']}"
    return "right"


def write_grid(cells: dict[str, Cells]) -> str:
    """The grid as tables, from what came of each carrier."""
    parts = []
    for title, table, carriers in GRIDS:
        heads = [carrier.name.replace("_", " ") for carrier in carriers]
        parts.append(f"| {title} | {' | '.join(heads)} |\n| --- |{' --- |' * len(heads)}\n")
        for name in table:
            row = [cells[carrier.name][title, name] for carrier in carriers]
            parts[-1] += f"| {name} | {' | '.join(row)} |\n"
    every = [cell for found in cells.values() for cell in found.values()]
    counts = [every.count(word) for word in ("right", "refused", NONE)]
    head = "{:,} are read right, {:,} are refused with the place, {:,} can't occur.\n\n"
    return head.format(*counts) + "\n".join(parts)


def read_grid() -> str:
    return README.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]


def read_cells() -> dict[str, Cells]:
    """The cells of the grid in the README, by carrier."""
    names = {carrier.name.replace("_", " "): carrier.name for carrier in CARRIERS}
    cells: dict[str, Cells] = {carrier.name: {} for carrier in CARRIERS}
    for part in read_grid().split("\n\n")[1:]:
        head, _, *rows = [line.strip("| ").split(" | ") for line in part.strip().splitlines()]
        for name, *row in rows:
            for column, cell in zip(head[1:], row, strict=True):
                cells[names[column]][head[0], name] = cell
    return cells


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault(shared.FOLDER, folder)
        if warm.SOCKET not in os.environ:
            warm.prepare(folder)
        cells = {}
        for number, carrier in enumerate(CARRIERS):
            cells[carrier.name] = try_all(carrier, Path(folder, f"carrier {number}"))
            for (title, name), cell in cells[carrier.name].items():
                if cell.startswith("wrong"):
                    print(f"{carrier.name} | {title}: {name} | {cell}", file=sys.stderr)
    text = README.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    README.write_text(f"{before}{BEGIN}{write_grid(cells)}{END}{after}", encoding="utf-8")
    print(write_grid(cells).splitlines()[0])


if __name__ == "__main__":
    main()
