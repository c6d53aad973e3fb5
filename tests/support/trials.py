"""What a task makes of people's files, as `support/kinds.py` has them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from support.files import write_files
from support.kinds import Carrier, Trial
from support.paths import DRIVERS
from support.rendering import render
from support.training import run_python, succeed

DRIVER = DRIVERS / "read_files.py"


def read_trials(carrier: Carrier, trials: Sequence[Trial], folder: Path) -> list[dict[str, Any]]:
    """What a task reads of each trial, or how it refuses it, all of them in one process."""
    project, calls = write_files(folder / "project", render(carrier.answers)), []
    (project / DRIVER.name).write_text(DRIVER.read_text())
    for number, trial in enumerate(trials):
        place = folder / str(number)
        place.mkdir()
        for name, content in trial.files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(content)
        calls.append([str(place), {**carrier.settings, **trial.settings}])
    run = succeed(run_python(project, [DRIVER.name], stdin=json.dumps(calls), timeout=600))
    results: list[dict[str, Any]] = json.loads(run.stdout.splitlines()[-1])
    assert len(results) == len(trials)
    return results
