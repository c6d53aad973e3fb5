"""With random settings, a run is as long as they say, and a finished one stays as it is."""

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from scaffold.answers.manifests import load_catalog
from support.combinations import Way, conflict, given_for, in_turns, shared_bundles
from support.files import write_files
from support.rendering import render
from support.training import count_processes, start, succeed, without_times

pytestmark = pytest.mark.train

CATALOG = load_catalog()
BUNDLES = shared_bundles(apart=3, each=2)
ENDS_EARLY = {"early_stopping", "stop_on_spike", "evaluation_by_steps"}  # or has other lines
ACCUMULATION = "training.gradient_accumulation_steps"
ALWAYS_ON = [
    Way(name, ((f"features.{name}.enabled", True),)) for name in ("checkpoints", "metrics_file")
]


def draw(random: Random, accumulation: int) -> dict[str, int | str]:
    """Settings of a short run, whose epochs have at least one step."""
    limit = random.randint(accumulation, 5)
    epochs = random.randint(1, 4)
    return {
        "epochs": epochs,
        "limit_batches": limit,
        "batch_size": 4,
        "max_steps": random.choice([0, random.randint(1, epochs * limit + 1)]),
        "log_every": random.randint(0, 3),
        "checkpoint_every": random.randint(0, 3),
        "checkpoint_unit": random.choice(["epochs", "steps"]),
        "keep_checkpoints": random.randint(0, 2),
    }


@pytest.mark.parametrize("label", in_turns(BUNDLES, 36))
def test_a_run_has_the_steps_and_epochs_of_its_settings(
    label: str, tmp_path: Path, proven: Callable[[str, int], None]
) -> None:
    task, on = BUNDLES[label]
    random = Random(label)
    accumulation = random.choice([1, 2, 3])
    several = Way("gradient_accumulation", ((ACCUMULATION, accumulation),))
    if conflict(CATALOG, [*on, *ALWAYS_ON, several], task):
        accumulation = 1
    given = {
        **given_for(CATALOG, [*on, *ALWAYS_ON], project__task=task),
        ACCUMULATION: accumulation,
    }
    project = write_files(tmp_path / "project", render(given))
    whole = not ENDS_EARLY & {way.feature for way in on}
    for number in range(3):
        settings = draw(random, accumulation)
        check(project, settings, accumulation, number, whole)
        proven("runs with random settings", 1)


def check(
    project: Path, settings: dict[str, int | str], accumulation: int, number: int, whole: bool
) -> None:
    """Train with these settings, on 1 or 2 processes in turn, and again with `--resume`."""
    run, processes = f"runs/{number}", 1 + number % 2
    flags = [f"--{key.replace('_', '-')}={value}" for key, value in settings.items()]
    script = ["train.py", *flags, "--output-dir", run]
    first = succeed(start(project, script, processes))
    assert count_processes(first.stdout) == processes
    per_epoch = int(settings["limit_batches"]) // accumulation
    total = int(settings["epochs"]) * per_epoch
    total = min(total, int(settings["max_steps"]) or total)
    steps = [int(step) for step in re.findall(rf"^step (\d+)/{total} ", first.stdout, re.M)]
    every = int(settings["log_every"])
    expected = list(range(every, total + 1, every)) if every else []
    rows = [json.loads(line) for line in (project / run / "metrics.jsonl").open()]
    assert [row["step"] for row in rows] == sorted(row["step"] for row in rows)
    assert all(math.isfinite(value) for row in rows for value in row.values()), rows
    saved = sorted(path.name for path in (project / run).glob("checkpoint_*"))
    if whole:
        epochs = re.findall(r"^epoch (\S+)/", first.stdout, re.M)
        assert epochs == [
            f"{min(end, total) / per_epoch:.5g}"
            for end in range(per_epoch, total + per_epoch, per_epoch)
        ], (settings, first.stdout)
        assert steps == expected, (settings, first.stdout)
        assert rows[-1]["step"] == total
        assert saved[-1] == f"checkpoint_{total:08d}", (settings, saved)
    assert len(saved) <= (int(settings["keep_checkpoints"]) or total), (settings, saved)
    assert first.stdout.count("\ndone | ") == 1
    metrics = (project / run / "metrics.jsonl").read_bytes()
    again = succeed(start(project, [*script, "--resume"], processes))
    ends = [without_times(result.stdout).splitlines()[-1] for result in (first, again)]
    assert ends[0] == ends[1], settings
    assert (project / run / "metrics.jsonl").read_bytes() == metrics, settings
