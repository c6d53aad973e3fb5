"""What comes after training, one command after the other, as the README of a project shows them."""

import json
from pathlib import Path

import pytest
from conftest import in_turns, render, write_files
from test_predict import paint_digits, write_lines, write_measurements, write_numbers
from training import count_passed, run_python, run_tests, start

from scaffold.answers.catalog import load_catalog

pytestmark = pytest.mark.train

SCRIPTS = ("evaluate", "export", "share")
OFTEN = {
    "image_classification",
    "own",
    "tabular_regression",
}  # in every run
# what a user has, as arguments of predict.py
PREDICT = {
    "image_classification": ["pictures"],
    "autoencoder": ["pictures"],
    "gan": ["4", "--output", "generated"],
    "text_classification": ["texts.txt"],
    "token_classification": ["Kelmond was born in Norby.", "--json"],
    "language_model": ["def f(", "--length", "8", "--json"],
    "seq2seq": ["3/4/1998", "--length", "8", "--json"],
    "sft": ["add 3 to 14", "--length", "8", "--json"],
    "tabular_classification": ["rows.csv"],
    "tabular_regression": ["rows.csv"],
    "own": ["numbers.txt"],
}
# what is printed, with the line of the names of columns
COUNTS = {"pictures": 2 + 1, "texts.txt": 3 + 1, "rows.csv": 3 + 1, "numbers.txt": 3 + 1}
RELOAD = """
from load import load
model = load()
print(sum(weights.numel() for weights in model.parameters()))
"""


def prepare_inputs(task: str, folder: Path) -> None:
    paint_digits(folder / "pictures", 2)
    write_lines(folder)
    write_numbers(folder)
    if task.startswith("tabular"):
        name = {"tabular_classification": "breast_cancer", "tabular_regression": "diabetes"}[task]
        write_measurements(name)(folder)


@pytest.mark.parametrize(
    "task",
    [
        pytest.param(task, marks=[pytest.mark.sweep] * (task not in OFTEN))
        for task in load_catalog().tasks
    ],
)
def test_the_commands_follow_each_other(task: str, tmp_path: Path) -> None:
    """Train, evaluate, predict on a user's file, export and load, and share, in a new folder."""
    features = {f"features.{name}.enabled": True for name in SCRIPTS}
    folder = write_files(tmp_path / "project", render({"project.task": task, **features}))
    prepare_inputs(task, folder)

    def run(*arguments: str, where: Path = folder) -> str:
        result = run_python(where, arguments)
        assert result.returncode == 0, f"{arguments}: {result.stderr[-2000:]}"
        return result.stdout

    trained = start(folder, ["train.py", "--epochs", "1", "--max-steps", "4"], 1)
    assert trained.returncode == 0, trained.stderr
    rows = (folder / "runs/latest/metrics.jsonl").read_text().splitlines()
    tested = {name: value for name, value in json.loads(rows[-1]).items() if "test_" in name}

    run("evaluate.py")
    measured = json.loads((folder / "runs/latest/evaluation/test/metrics.json").read_text())
    assert tested and {name: measured[name]["value"] for name in tested} == tested

    inputs = PREDICT[task]
    printed = run("predict.py", *inputs).splitlines()
    assert len(printed) == COUNTS.get(inputs[0], 1), printed
    assert task != "gan" or len(list(folder.glob("generated/*.png"))) == 4

    run("export.py", "--format", "safetensors", "--output", "exported")
    assert int(run("-c", RELOAD, where=folder / "exported")) > 0

    run("share.py", "--output", "shared")
    card = (folder / "shared/README.md").read_text()
    assert all(name in card for name in tested)


@pytest.mark.parametrize("task", in_turns(sorted(load_catalog().tasks, key="own".__ne__), 99))
def test_a_project_tests_its_scripts(task: str, tmp_path: Path) -> None:
    """Those of search.py, compare.py and share.py, as its owner runs them."""
    features = {f"features.{name}.enabled": True for name in ("compare", "search", "share")}
    folder = write_files(tmp_path, render({"project.task": task, **features}))
    chosen = "settings_of_config or repeats_no_trial or runs_are_compared or test_share"
    files = ["tests/test_features.py", "tests/test_share.py"]
    assert count_passed(run_tests(folder, *files, "-k", chosen)) == 5
