"""A folder for each run: one on all processes, which a resumed run finds again."""

import json
import re
from pathlib import Path

import pytest
from conftest import render_with_best as render
from conftest import write_files
from training import count_passed, run_tests, start

pytestmark = pytest.mark.train

FEATURE = {"features.run_folders.enabled": True}
FOLDER = re.compile(r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d")
# each process has another time
CLOCKS = """
import os, runpy, time
os.environ["TZ"] = "AAA" + os.environ["RANK"]
time.tzset()
runpy.run_path("train.py", run_name="__main__")
"""


def test_two_processes_share_a_folder(tmp_path: Path) -> None:
    """That of the main process. A resumed run continues there, on any number of processes."""
    folder = write_files(tmp_path, {**render(FEATURE), "clocks.py": CLOCKS})
    result = start(folder, ["clocks.py", "--max-steps", "3"], 2)
    assert result.returncode == 0, result.stderr
    [made] = (folder / "runs").iterdir()
    assert FOLDER.fullmatch(made.name)
    assert result.stdout.splitlines()[0].startswith(f"runs/{made.name} | 2 process(es)")
    files = {"config.json", "metrics.jsonl", "model.safetensors", "best.safetensors"}
    assert files < {path.name for path in made.iterdir()}
    result = start(folder, ["clocks.py", "--max-steps", "4", "--resume"], 2)
    assert result.returncode == 0, result.stderr
    assert f"resumed from runs/{made.name}/checkpoint_" in result.stdout
    assert list((folder / "runs").iterdir()) == [made]
    wrong = start(folder, ["train.py", "--output-dir", "runs/{date}", "--resume"], 1)
    assert wrong.returncode == 1
    assert wrong.stderr == "--output-dir runs/{date}: only {time} is known, not {date}.\n"


def test_the_project_tests_its_folders(tmp_path: Path) -> None:
    changes = {"features.tracker.enabled": True, "features.checkpoints.enabled": True}
    folder = write_files(tmp_path, render({**FEATURE, **changes}))
    chosen = "each_run_makes or braces or newest_run"
    assert count_passed(run_tests(folder, "tests/test_features.py", "-k", chosen)) == 3
    assert start(folder, ["train.py", "--max-steps", "2"], 1).returncode == 0
    [made] = (folder / "runs").iterdir()
    assert FOLDER.fullmatch(made.name)
    assert list(made.rglob("events.out.tfevents*")), "the tracker writes to the folder of the run"


@pytest.mark.sweep
def test_all_folds_are_in_one_folder(tmp_path: Path) -> None:
    changes = {"features.cross_validation.enabled": True, "features.checkpoints.enabled": False}
    folder = write_files(tmp_path, render({**FEATURE, **changes}))
    script = ["cross_validate.py", "--cross-validation-folds", "2", "--max-steps", "2"]
    result = start(folder, [*script, "--output-dir", "runs/{time}/folds"], 1)
    assert result.returncode == 0, result.stderr
    [made] = (folder / "runs").iterdir()
    assert FOLDER.fullmatch(made.name)
    found = {path.name for path in (made / "folds").iterdir()}
    assert found == {"fold0", "fold1", "summary.json"}
    assert len(json.loads((made / "folds/summary.json").read_text())["test_accuracy"]["folds"]) == 2
