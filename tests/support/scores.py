"""Scripts beside a project that compare what it computes on several processes with others."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from support.training import run

# two processes in every run; the sweep has all sizes on 1 and 3, too
ON_PROCESSES = [2, *(pytest.param(count, marks=pytest.mark.sweep) for count in (1, 3))]
SETS = [(size, batch) for size in (1, 2, 3, 5, 12, 33, 100) for batch in (1, 3, 8, 64)]
HEAD = """
import json, sys, torch, train
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader
accelerator, draw, worst = Accelerator(), torch.Generator().manual_seed(0), 0.0
cases, config = json.loads(sys.argv[1]), train.Config()
count, number = accelerator.num_processes, accelerator.process_index
"""
END = """
if accelerator.is_main_process:
    print("processes", count, "worst", worst)
"""


def run_cases(folder: Path, script: str, cases: Sequence[object], processes: int) -> float:
    """The `worst` that a script finds among these `cases`. It ends where one is not as expected."""
    (folder / "cases.py").write_text(HEAD + script + END)
    result = run(folder, "cases.py", json.dumps(cases), processes=processes)
    words = result.split()
    assert words[:3] == ["processes", str(processes), "worst"] and len(cases) > 2
    return float(words[3])


def score_sets(
    folder: Path,
    script: str,
    processes: int,
    sets: Sequence[object] = SETS,
    some: slice = slice(1, None, 5),
) -> int:
    """How many sets have the scores that a script expects: some of them on two processes."""
    chosen = sets[some] if processes == 2 else sets
    run_cases(folder, script, chosen, processes)
    return len(chosen)
