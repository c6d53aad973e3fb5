"""compare.py of a project: which runs it finds, what it says of them, and that nothing stops it."""

import csv
import json
import os
import runpy
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from scaffold.answers.manifests import load_catalog
from support.combinations import in_turns
from support.files import write_files
from support.rendering import render
from support.training import fail, start

FEATURE = {"features.compare.enabled": True}
Line = Mapping[str, object]
Compare = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_files(tmp_path, render(FEATURE))


@pytest.fixture
def compare(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Compare:
    """compare.py in this process, which is faster."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = ["compare.py", *arguments]
        monkeypatch.chdir(project)
        monkeypatch.setattr(sys, "argv", command)
        code: object = 0
        try:
            runpy.run_path("compare.py", run_name="__main__")
        except SystemExit as stop:
            code = stop.code
        assert isinstance(code, int)
        return subprocess.CompletedProcess(command, code, *capsys.readouterr())

    return run


def make_run(folder: Path, lines: Sequence[Line], age: float = 7200, **settings: object) -> Path:
    """The folder of a run that wrote its last line so many seconds ago."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = {"epochs": 5, "learning_rate": 0.001, "output_dir": str(folder), **settings}
    (folder / "config.json").write_text(json.dumps({"settings": settings, "command": []}))
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    for path, seconds in ((folder / "config.json", age + 60), (folder / "metrics.jsonl", age)):
        os.utime(path, (time.time() - seconds,) * 2)
    return folder


def lines(*scores: float, test: float | None = None) -> list[Line]:
    found: list[Line] = []
    for step, score in enumerate(scores, 1):
        found.append({"step": 10 * step - 5, "loss": 1 / step, "lr": 0.1})
        found.append({"step": 10 * step, "val_loss": 1 - score, "val_accuracy": score})
    if test is not None:
        found.append({"step": 10 * len(scores), "test_loss": 0.1, "test_accuracy": test})
    return found


def rows(text: str) -> list[dict[str, str]]:
    """The printed table: its columns begin where their names do."""
    head, *rest = text.splitlines()
    names = head.split("  ")
    names = [name.strip() for name in names if name.strip()]
    starts = [*(head.index(f"{name}  ") for name in names[:-1]), head.rindex(names[-1]), None]
    parts = {name: slice(starts[n], starts[n + 1]) for n, name in enumerate(names)}
    return [{name: row[part].strip() for name, part in parts.items()} for row in rest]


def test_each_run_is_a_line(project: Path, compare: Compare) -> None:
    """Whatever its depth: of a fold, a seed, a trial. Checkpoints and models in it are no runs."""
    runs = project / "runs"
    make_run(runs / "seed_0", lines(0.5, 0.9, 0.8, test=0.85), seed=0)
    make_run(runs / "cross_validation/fold1", lines(0.7), seed=1)
    make_run(runs / "search/first/trial_0003", lines(), learning_rate=0.123456789, width=8, seed=1)
    copy = make_run(runs / "seed_0/checkpoint_00000030", [])
    make_run(runs / "seed_0/export/safetensors", [])
    (runs / "seed_0/pretrained").mkdir()
    (runs / "seed_0/pretrained/config.json").write_text('{"hidden_size": 64}')
    result = compare()
    assert (result.returncode, result.stderr) == (0, "")
    found = {row["run"]: row for row in rows(result.stdout)}
    assert list(found) == [
        *("runs/cross_validation/fold1", "runs/search/first/trial_0003", "runs/seed_0")
    ]
    best = found["runs/seed_0"]
    assert (best["state"], best["step"]) == ("finished", "30")
    assert (best["best val_accuracy"], best["val_accuracy"]) == ("0.9", "0.8"), "best, and last"
    assert best["test_accuracy"] == "0.85"
    assert found["runs/cross_validation/fold1"]["test_accuracy"] == ""
    trial = found["runs/search/first/trial_0003"]
    assert (trial["learning_rate"], trial["width"], trial["step"]) == ("0.12346", "8", "")
    assert not {"epochs", "output_dir"} & trial.keys(), "only settings that differ"
    assert copy.exists()
    one = compare("runs/seed_0", "runs/seed_0", "./runs/seed_0/../seed_0")
    assert len(rows(one.stdout)) == 1, "a run that is named twice"
    assert "seed" not in rows(one.stdout)[0], "nothing differs from itself"


def test_states(project: Path, compare: Compare) -> None:
    runs = project / "runs"
    make_run(runs / "finished", lines(0.5, test=0.5), age=1)
    make_run(runs / "running", lines(0.5), age=30)
    slow = make_run(runs / "slow", lines(0.5), age=3000)  # a line each 20 minutes
    os.utime(slow / "config.json", (time.time() - 3000 - 2400,) * 2)
    make_run(runs / "starting", [], age=5)
    make_run(runs / "killed", lines(0.5))
    stopped = make_run(runs / "stopped", lines(0.5))
    (stopped / "checkpoint_00000010").mkdir()
    saving = make_run(runs / "saving", lines(0.5))
    (saving / "checkpoint_00000001.partial").mkdir()
    extended = make_run(runs / "extended", [*lines(0.5, test=0.5), *lines(0.6)])
    (extended / "checkpoint_00000010").mkdir()
    found = {row["run"].removeprefix("runs/"): row["state"] for row in rows(compare().stdout)}
    assert found == {
        "finished": "finished",
        "running": "running",
        "slow": "running",
        "starting": "running",
        "killed": "unfinished",
        "stopped": "can be resumed",
        "saving": "unfinished",
        "extended": "can be resumed",
    }


def test_without_checkpoints_nothing_can_be_resumed() -> None:
    off = {"features.checkpoints.enabled": False}
    assert "can be resumed" not in render({**FEATURE, **off})["compare.py"]
    assert "can be resumed" in render(FEATURE)["compare.py"]


@pytest.mark.parametrize(
    ("name", "text", "named"),
    [
        ("config.json", '{"settings": {"epo', "runs/b/config.json can't be read"),
        ("config.json", '{"settings": 3}', "runs/b/config.json can't be read"),
        ("config.json", "", "runs/b/config.json can't be read"),
        ("config.json", "\xff\xfe", "runs/b/config.json can't be read"),
        ("config.json", "3", "runs/b/config.json can't be read"),
        ("metrics.jsonl", '{"step": 1, "val_accuracy": 0.7}\n{"st', "runs/b/metrics.jsonl, line 2"),
        ("metrics.jsonl", '\n{"step": 1, "val_accuracy": 0.7}\n', "runs/b/metrics.jsonl, line 1"),
        ("metrics.jsonl", '[1]\n{"step": 1, "val_accuracy": 0.7}', "runs/b/metrics.jsonl, line 1"),
        ("metrics.jsonl", '{"a": 1}\n{"step": 1, "val_accuracy": 0.7}', "metrics.jsonl, line 1"),
        ("metrics.jsonl", '\0\0\0\n{"step": 1, "val_accuracy": 0.7}', "metrics.jsonl, line 1"),
    ],
)
def test_what_is_broken_is_named(
    project: Path, compare: Compare, name: str, text: str, named: str
) -> None:
    """The other runs, and other lines of the same run, are read all the same."""
    make_run(project / "runs/a", lines(0.5, test=0.6))
    (make_run(project / "runs/b", lines()) / name).write_bytes(text.encode("latin-1"))
    result = compare("--output", "runs.csv")
    assert result.returncode == 0
    assert len(result.stderr.splitlines()) == 1 and named in result.stderr
    found = {row["run"]: row for row in rows(result.stdout)}
    assert found["runs/a"]["test_accuracy"] == "0.6"
    if name == "metrics.jsonl":
        assert found["runs/b"]["best val_accuracy"] == "0.7"
    else:
        assert "runs/b" not in found


def test_values_that_are_no_numbers(project: Path, compare: Compare) -> None:
    """A loss that is NaN or infinite is never the best; what is text is no metric."""
    strange = [{"step": 1, "val_loss": float("nan"), "note": "hello"}]
    strange += [{"step": 2, "val_loss": -float("inf")}, {"step": 3, "val_loss": 0.5}]
    make_run(project / "runs/a", [*strange, {"step": 4, "val_loss": float("nan")}])
    make_run(project / "runs/b", [{"step": 1, "val_loss": float("nan")}])
    make_run(project / "runs/c", [{"step": 1, "val_loss": 0.25}])
    result = compare("--sort", "val_loss", "--output", "runs.csv")
    assert result.returncode == 0, result.stderr
    found = [(row["run"], row["best val_loss"], row["val_loss"]) for row in rows(result.stdout)]
    assert found == [("runs/c", "0.25", "0.25"), ("runs/a", "0.5", "nan"), ("runs/b", "", "nan")]


def test_the_best_run_comes_first(project: Path, compare: Compare) -> None:
    """The highest accuracy, and the lowest loss; a run without one comes last."""
    make_run(project / "runs/a", lines(0.2, 0.1))
    make_run(project / "runs/b", [])
    make_run(project / "runs/c", [*lines(0.3), {"step": 20, "val_loss": 0.01}])
    make_run(project / "runs/d", lines(0.9, 0.4))
    for metric, order in (("val_accuracy", "dcab"), ("val_loss", "cdab"), ("loss", "adcb")):
        result = compare("--sort", metric)
        found = [row["run"][-1] for row in rows(result.stdout)]
        assert "".join(found) == order, metric


def test_the_untrained_model_is_not_the_best(tmp_path: Path) -> None:
    """What first_evaluation writes is no result of a run, also in search.py."""
    write_files(tmp_path, render({**FEATURE, "features.first_evaluation.enabled": True}))
    first = {"step": 0, "val_loss": 0.0, "val_accuracy": 1.0}
    make_run(tmp_path / "runs/a", [first, *lines(0.1, 0.3)])
    result = start(tmp_path, ["compare.py"])
    assert [row["best val_accuracy"] for row in rows(result.stdout)] == ["0.3"]


def test_the_table_as_a_file(project: Path, compare: Compare) -> None:
    """All settings and all metrics, also those that are not shown, with all their digits."""
    make_run(project / "runs/a", lines(0.123456789, test=0.5), learning_rate=0.000123456789)
    make_run(project / "runs/b, c", lines(0.5))
    assert compare("--output", "runs.csv").returncode == 0
    first, second = csv.DictReader((project / "runs.csv").read_text().splitlines())
    assert (first["learning_rate"], first["epochs"]) == ("0.000123456789", "5")
    assert (first["best val_accuracy"], first["lr"]) == ("0.123456789", "0.1")
    assert time.strptime(first["started"], "%Y-%m-%d %H:%M:%S")
    assert (second["run"], second["test_loss"]) == ("runs/b, c", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "no such folder: nowhere"),
        (["empty"], "no run was found"),
        (["--sort", "val_acuracy"], "no run has val_acuracy: choose from loss, lr, val_accuracy"),
        (["--metric", "x"], "no run has x: choose from"),
        (["runs/b", "--plot", "curves.png"], "no run has val_accuracy: choose from loss\n"),
        (["runs/c", "--plot", "curves.png"], "choose from nothing: no run has logged anything"),
        (["--output", "nowhere/runs.csv"], "nowhere/runs.csv"),
    ],
)
def test_what_is_wrong_is_said(
    project: Path, compare: Compare, arguments: list[str], message: str
) -> None:
    (project / "empty").mkdir()
    make_run(project / "runs/a", lines(0.5))
    make_run(project / "runs/b", [{"step": 1, "loss": 0.5}])
    make_run(project / "runs/c", [])
    result = compare(*arguments)
    assert result.returncode == 2 and not (project / "curves.png").exists()
    assert message in result.stderr and "Traceback" not in result.stderr


def test_it_imports_little(project: Path) -> None:
    heavy = {"torch", "accelerate", "numpy", "matplotlib", "train"}
    code = f"import sys, compare; print({heavy!r} & set(sys.modules))"
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=60)
    assert result.stdout.strip() == "set()", result.stderr


@pytest.mark.parametrize("task", in_turns(load_catalog().tasks, 4))
def test_it_knows_which_value_is_better(task: str, tmp_path: Path) -> None:
    """Of the metric that the task monitors, and of one that the best model monitors."""
    (tmp_path / "compare.py").write_text(render({**FEATURE, "project.task": task})["compare.py"])
    found = runpy.run_path(str(tmp_path / "compare.py"))
    values = load_catalog().tasks[task].values
    assert found["METRIC"] == values["metric"]
    assert found["is_lower_better"](found["METRIC"]) == (not values["higher_is_better"])
    loss = f"val_{values['metrics'][0]}"
    monitored = {"features.best_model.monitor": loss}
    other = render({**FEATURE, "project.task": task, **monitored})["compare.py"]
    assert f'METRIC = "{loss}"' in other


@pytest.mark.train
def test_curves_over_each_other(project: Path) -> None:
    """Of many runs, and of runs that have no such curve."""
    for number in range(12):
        make_run(project / f"runs/{number}", lines(0.1 * number, float("nan"), 0.2))
    make_run(project / "runs/none", [])
    for name in ("curves.png", "curves.svg"):
        result = start(project, ["compare.py", "--plot", name, "--metric", "val_loss"])
        assert (result.returncode, result.stderr) == (0, "")
    assert (project / "curves.png").read_bytes().startswith(b"\x89PNG")
    picture = (project / "curves.svg").read_text()
    assert all(f"<!-- runs/{number} -->" in picture for number in range(12))
    assert "<!-- runs/none -->" not in picture and "<!-- val_loss -->" in picture
    assert "'xyz' is not supported" in fail(project, "compare.py", "--plot", "curves.xyz")
