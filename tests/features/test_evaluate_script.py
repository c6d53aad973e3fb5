"""evaluate.py gives the numbers of training, and says how certain they are."""

import csv
import json
import math
from pathlib import Path

import pytest

from scaffold.answers.catalog import Value
from scaffold.answers.manifests import load_catalog
from support.combinations import in_turns, often
from support.files import write_files
from support.inputs import make_table, write_table
from support.rendering import about, render
from support.training import fail, only_in_sweep, read_report, read_rows, run, start

EVALUATE: dict[str, Value] = {"features.evaluate.enabled": True}
BRIEF = ["--epochs", "1", "--batch-size", "16"]
TASKS = list(load_catalog().tasks)


def train(folder: Path, given: dict[str, Value], *flags: str) -> Path:
    """A project with a run in runs/latest."""
    project = write_files(folder, render({**EVALUATE, **given}))
    run(project, "train.py", *flags)
    return project


def evaluate(project: Path, *flags: str, processes: int = 1) -> dict[str, dict[str, float]]:
    result = run(project, "evaluate.py", "--run", "runs/latest", *flags, processes=processes)
    report = read_report(
        project, flags[flags.index("--split") + 1] if "--split" in flags else "test"
    )
    assert all(f"{name} | " in result for name in report)
    return report


def logged(project: Path, run: str = "latest") -> dict[str, float]:
    """The last value of each metric that training reported."""
    lines = (project / "runs" / run / "metrics.jsonl").read_text().splitlines()
    return {name: value for line in lines for name, value in json.loads(line).items()}


def rows(project: Path, file: str, split: str = "test") -> list[dict[str, str]]:
    return read_rows((project / "runs/latest/evaluation" / split / file).read_text())


@pytest.mark.every_run
@pytest.mark.parametrize(
    "tasks",
    [pytest.param(TASKS[::5], id="some"), pytest.param(TASKS, id="all", marks=pytest.mark.sweep)],
)
def test_evaluate_is_short(tasks: list[str]) -> None:
    for task in {*tasks, "gan"}:
        files = render({**EVALUATE, "project.task": task})
        assert len(files["evaluate.py"].splitlines()) < 165, task
        for name in ("bootstrap.py", "errors.py"):
            assert (name in files) == (task != "gan"), "the GAN has no metric of one sample"


# --- trained ------------------------------------------------------------------------------------


@pytest.mark.train
def test_what_is_said_of_a_classifier(tmp_path: Path) -> None:
    """Metrics, intervals, errors, classes and a comparison, each checked against the others."""
    project = train(tmp_path, {}, *BRIEF)
    run(project, "train.py", *BRIEF, "--seed", "1", "--output-dir", "runs/other")
    report = evaluate(project, "--by", "class", "--against", "runs/other")
    last, other = logged(project), logged(project, "other")
    for name in ("test_loss", "test_accuracy"):
        row = report[name]
        assert row["value"] == last[name]
        assert row["low"] < row["value"] < row["high"]
        difference = report[f"{name.removeprefix('test_')}_difference"]
        assert difference["value"] == pytest.approx(last[name] - other[name], abs=1e-6)
        assert difference["low"] <= difference["value"] <= difference["high"]
        assert 0 < difference["p"] <= 1
    samples, errors = rows(project, "samples.csv"), rows(project, "errors.csv")
    right = sum(row["label"] == row["prediction"] for row in samples)
    assert right / len(samples) == last["test_accuracy"]
    # the interval of a share, which is normal for this many samples
    share, row = right / len(samples), report["test_accuracy"]
    width = 2 * 1.96 * math.sqrt(share * (1 - share) / len(samples))
    assert row["high"] - row["low"] == pytest.approx(width, rel=0.25)
    losses = [float(row["loss"]) for row in samples]
    assert losses == sorted(losses, reverse=True)
    assert sum(losses) / len(losses) == pytest.approx(last["test_loss"], rel=1e-5)
    assert sorted(int(row["index"]) for row in samples) == list(range(len(samples)))
    assert errors == [row for row in samples if row["label"] != row["prediction"]]
    for label in map(str, range(10)):
        group = [row for row in samples if row["label"] == label]
        hits = sum(row["prediction"] == label for row in group)
        assert report[f"class {label}"]["samples"] == len(group)
        assert report[f"class {label}"]["accuracy"] == pytest.approx(hits / len(group))
        [counts] = [row for row in rows(project, "confusion.csv") if row["label"] == label]
        assert int(counts[label]) == hits
        assert sum(int(counts[name]) for name in map(str, range(10))) == len(group)
    picture = project / "runs/latest/evaluation/test/confusion.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    same = evaluate(project, "--against", "runs/latest")
    assert same["accuracy_difference"] == {"value": 0, "low": 0, "high": 0, "p": 1}
    assert same["mcnemar"] == {"right_alone": 0, "other_right_alone": 0, "p": 1}
    assert "can't be loaded" in fail(project, "evaluate.py", "--weights", "train.py")


FORMULAS = """
import torch
from math import comb
from bootstrap import compare, find_intervals, mcnemar

def pairs(one, two):
    right = [True] * one + [False] * two + [True] * 5
    other = [False] * one + [True] * two + [True] * 5
    return mcnemar(torch.tensor(right), torch.tensor(other))["p"]

def mean(columns):
    return {"loss": float(columns["loss"].mean())}

# a known case: 1 and 9 of 10, two tails of Binomial(10, 1/2)
assert pairs(1, 9) == pairs(9, 1) == 2 * (comb(10, 0) + comb(10, 1)) / 2**10
assert pairs(3, 3) == 1 and pairs(0, 0) == 1
# 1900 throws of a coin: 100 are 2.29 standard deviations; 2**1900 is no float
assert 0.0225 < pairs(1000, 900) < 0.0235
# the interval covers the true mean about 95 times in 100
draw, hits = torch.Generator().manual_seed(1), 0
for _ in range(100):
    found = find_intervals({"loss": torch.randn(50, generator=draw)}, mean)["loss"]
    hits += found["low"] <= 0 <= found["high"]
print(hits)
one = torch.randn(200, generator=draw)
near = {"loss": one + 0.1 + 0.01 * torch.randn(200, generator=draw)}
row = compare(near, {"loss": one}, mean)["loss_difference"]
assert row["p"] < 0.01, "paired: the spread of the samples is the same in both"
row = compare({"loss": torch.randn(200, generator=draw)}, {"loss": one}, mean)["loss_difference"]
print(row["p"])
"""


MANY_CLASSES = """
import struct
from pathlib import Path

import torch
from errors import write_confusion

counts = torch.eye(1000).long()
counts[900, 7] = 3
write_confusion(Path(), counts, [f"class {number}" for number in range(1000)])
assert len(Path("confusion.csv").read_text().splitlines()) == 1001
width, height = struct.unpack(">2I", Path("confusion.png").read_bytes()[16:24])
assert 1000 < width == height < 3000, (width, height)
"""


@pytest.mark.train
def test_intervals_and_tests_are_those_of_the_books(tmp_path: Path) -> None:
    project = write_files(tmp_path, render(EVALUATE))
    run(project, "-c", MANY_CLASSES)
    hits, p = run(project, "-c", FORMULAS).split()
    assert 88 <= int(hits) <= 99
    assert float(p) > 0.05


@pytest.mark.train
@pytest.mark.parametrize("task", often(TASKS, ["tabular_regression"]))
def test_every_split_is_measured_as_in_training(task: str, tmp_path: Path) -> None:
    """On 1, 2 and 3 processes; the last weights of a run are those of its last evaluation."""
    flags = [*BRIEF, "--limit-batches", "6"] if task in LONG else BRIEF
    off: dict[str, Value] = {"project.task": task, "features.best_model.enabled": False}
    project = train(tmp_path, off, *flags)
    last = logged(project)
    for split in ("test", "val"):
        report = evaluate(project, "--split", split)
        names = [name for name in last if name.startswith(f"{split}_")]
        assert names and all(report[name]["value"] == last[name] for name in names)
        if task != "gan":
            means = [name for name in names if not name.endswith("_distance")]
            assert all(report[name]["low"] <= report[name]["high"] for name in means)
    assert evaluate(project, "--split", "train")
    one = evaluate(project)
    if task == "gan":
        return
    listed = rows(project, "samples.csv")
    losses = [float(row["loss"]) for row in listed]
    assert losses == sorted(losses, reverse=True)
    check_groups(task, project, one, listed)
    for processes in (2, 3):
        found = evaluate(project, processes=processes)
        if task in LONG:  # with a limit several processes see more
            continue
        assert found.keys() == one.keys()
        for name, row in one.items():
            assert found[name] == pytest.approx(row, rel=1e-4, abs=1e-5)
        again = rows(project, "samples.csv")
        assert [float(row["loss"]) for row in again] == pytest.approx(
            [float(row["loss"]) for row in listed], rel=1e-3, abs=1e-5
        )


def check_groups(
    task: str, project: Path, whole: dict[str, dict[str, float]], listed: list[dict[str, str]]
) -> None:
    """Of each task: a picture and a table of errors, metrics of groups, and a paired comparison."""
    folder = project / "runs/latest/evaluation/test"
    pictures = [*folder.glob("*.png")]
    assert pictures and all(path.read_bytes().startswith(b"\x89PNG") for path in pictures)
    by_class = {name for name in ("confusion.csv", "classes.csv") if (folder / name).exists()}
    for by in ["index", *(["class"] if by_class else [])]:
        report = evaluate(project, "--by", by, "--against", "runs/latest")
        groups = {name: row for name, row in report.items() if name.startswith(f"{by} ")}
        for name in (name for name in whole if "low" in whole[name]):
            difference = report[f"{name.removeprefix('test_')}_difference"]
            assert difference == {"value": 0, "low": 0, "high": 0, "p": 1}, task
    assert len(groups) > 1
    if "classes.csv" in by_class:
        table = rows(project, "classes.csv")
        assert [f"class {row['class']}" for row in table] == list(groups)
        for row in table:
            right, missed, wrong = (int(row[name]) for name in ("right", "missed", "wrong"))
            found = groups[f"class {row['class']}"]
            assert found["precision"] == pytest.approx(right / max(right + wrong, 1))
            assert found["recall"] == pytest.approx(right / max(right + missed, 1))
    elif by_class:
        assert sum(row["samples"] for row in groups.values()) == len(listed)
    else:
        assert len(groups) == len(listed), "each sample is a group of its own"
    assert "there is no such column. Choose from " in fail(
        project, "evaluate.py", "--by", "nothing"
    )


LONG = ("language_model", "seq2seq", "sft", "text_classification", "gan")


@pytest.mark.train
@pytest.mark.parametrize("kind", in_turns(["regression", "classification"], 2))
def test_metrics_by_a_column_of_a_table(kind: str, tmp_path: Path) -> None:
    table = make_table()
    table = table.assign(index=table["colour"])  # also a column of samples.csv
    write_table(table, tmp_path / "table.csv")
    task, target = f"tabular_{kind}", "number" if kind == "regression" else "kind"
    project = train(tmp_path, about(task, dataset="csv", path="table.csv", target=target), *BRIEF)
    report = evaluate(project, "--by", "colour")
    groups = {name: row for name, row in report.items() if name.startswith("colour ")}
    assert set(groups) == {"colour red", "colour green", "colour blue"}
    assert sum(row["samples"] for row in groups.values()) == len(rows(project, "samples.csv"))
    again = evaluate(project, "--by", "index of the data")
    assert {name.rpartition(" ")[2]: row for name, row in again.items() if " " in name} == {
        name.partition(" ")[2]: row for name, row in groups.items()
    }
    mean = sum(row["samples"] * row["loss"] for row in groups.values())
    expected = report["test_loss"]["value"] * len(rows(project, "samples.csv"))
    assert mean == pytest.approx(expected, rel=1e-4)
    assert {"number", "colour"} < rows(project, "samples.csv")[0].keys(), "all of the row"
    if kind == "classification":
        assert {row["label"] for row in rows(project, "samples.csv")} == {"large", "small"}


@pytest.mark.train
@pytest.mark.parametrize("own_file", [False, pytest.param(True, marks=pytest.mark.sweep)])
def test_metrics_by_a_column_beside_the_texts(own_file: bool, tmp_path: Path) -> None:
    """Of rows that the model does not read, in their split: a share of one file, or a file."""
    lines = ["text,label,source"]
    for row in range(60):
        lines.append(f'"text {row}, of words",{"yes" if row % 3 else "no"},web{row % 2}')
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    (tmp_path / "other.csv").write_text("\n".join([lines[0], *lines[7:20]]))
    paths = {"path": "rows.csv", "test_path": "other.csv" if own_file else ""}
    columns = {"text_columns": "text", "label_column": "label"}
    given = about("text_classification", dataset="csv", **paths, **columns)
    project = train(tmp_path, given, *BRIEF, "--max-steps", "2")
    report = evaluate(project, "--by", "source")
    listed = rows(project, "samples.csv")
    known = {row["text"]: row for row in csv.DictReader(lines)}
    assert len(listed) == (13 if own_file else 6)
    for row in listed:
        assert all(row[name] == known[row["text"]][name] for name in ("label", "source"))
    for source in {row["source"] for row in listed}:
        expected = sum(row["source"] == source for row in listed)
        assert report[f"source {source}"]["samples"] == expected


@pytest.mark.train
@pytest.mark.every_run
def test_data_that_changed_since_the_run_are_refused(tmp_path: Path) -> None:
    """Columns in another order are other inputs; with one more row the parts have others."""
    lines = [f"{row % 7},{row % 5},{row % 7 - row % 5}" for row in range(60)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["a,b,y", *lines]))
    given = about("tabular_regression", dataset="csv", path=str(path), target="y")
    project = train(tmp_path / "project", given, *BRIEF, "--output-dir", "runs/latest")
    evaluate(project)
    path.write_text("\n".join(["b,a,y", *lines]))
    said = "columns was ['a', 'b'] in runs/latest, and is ['b', 'a'] in the data now.\n"
    assert fail(project, "evaluate.py", "--run", "runs/latest") == said
    path.write_text("\n".join(["a,b,y", *lines, "1,2,3"]))
    again = start(project, ["train.py", "--resume", "--epochs", "2"])
    assert (
        again.stderr
        == "The data had (36, 12, 12) samples, and now have (37, 12, 12): start a new run.\n"
    )


@only_in_sweep
@pytest.mark.parametrize("data", ["csv", "folder"])
def test_samples_are_named_by_their_files(data: str, tmp_path: Path) -> None:
    """Images of a folder, or of a table with more columns: the file has the class of its row."""
    from PIL import Image

    lines = ["image,label,camera"]
    for number in range(40):
        label = "ab"[number % 2]
        path = tmp_path / "images" / label / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (16, 16), (6 * number, 40 * (number % 2), 0)).save(path)
        lines.append(f"images/{label}/{number}.png,{label},cam{number % 3}")
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    table, folder = {"dataset": "csv", "table": "rows.csv"}, {"dataset": "image_folder"}
    folder["path"] = "images"
    given = about("image_classification", image_size=16, **(table if data == "csv" else folder))
    flags = ["--epochs", "1", "--batch-size", "4", "--max-steps", "2", "--num-workers", "0"]
    project = train(tmp_path, given, *flags)
    for split in ("train", "val", "test"):
        by = "camera" if data == "csv" else "image"
        report = evaluate(project, "--split", split, "--by", by)
        listed = rows(project, "samples.csv", split)
        assert len({row["image"] for row in listed}) == len(listed) >= 3
        for row in listed:
            assert Path(row["image"]).parent.name == row["label"]
        groups = [row["samples"] for name, row in report.items() if name.startswith(f"{by} ")]
        assert sum(groups) == len(listed)


LABELLED = [("image_classification", "scenes"), ("text_classification", "reviews")]


@only_in_sweep
@pytest.mark.parametrize(("task", "data"), LABELLED)
@pytest.mark.parametrize("labels", ["many", "number"])
def test_several_labels_and_numbers(task: str, data: str, labels: str, tmp_path: Path) -> None:
    flags = [*BRIEF, "--max-steps", "8", "--limit-batches", "4"]
    project = train(tmp_path, about(task, dataset=data, labels=labels), *flags)
    one = evaluate(project)
    listed = rows(project, "samples.csv")
    check_groups(task, project, one, listed)
    assert listed[0].keys() > ({"target", "error"} if labels == "number" else {"labels"})
    if labels == "many":
        found = {row["class"]: row for row in rows(project, "classes.csv")}
        assert sum(int(row["right"]) + int(row["missed"]) for row in found.values()) == sum(
            len(row["labels"].split(",")) for row in listed if row["labels"]
        )


@pytest.mark.train
def test_runs_on_other_samples_are_not_compared(tmp_path: Path) -> None:
    """Here other parts of texts; a run that reads the same samples otherwise is compared."""
    small = [*BRIEF, "--max-steps", "2", "--width", "32"]
    project = train(tmp_path, {"project.task": "language_model"}, *small)
    for context in ("128", "64"):
        run(project, "train.py", *small, "--context", context, "--output-dir", f"runs/{context}")
    latest = ["--run", "runs/latest"]
    assert "loss_difference" in evaluate(project, *latest, "--against", "runs/128")
    refused = fail(project, "evaluate.py", *latest, "--against", "runs/64")
    assert refused == "runs/64 has other samples: choose a run on the same data.\n"


@pytest.mark.train
def test_features_leave_the_numbers_as_they_are(tmp_path: Path) -> None:
    """Streams, precision, another layout, and metrics that a callback adds after evaluate()."""
    given: dict[str, Value] = {
        f"features.{name}.enabled": True for name in ("stream", "channels_last", "torchmetrics")
    }
    given |= {"features.torchmetrics.place": "callback", "hardware.mixed_precision": "bf16"}
    given |= {"features.best_model.enabled": False}
    project = train(tmp_path, given, *BRIEF)
    last = logged(project)
    for split in ("test", "val"):
        report = evaluate(project, "--split", split)
        names = [name for name in last if name.startswith(f"{split}_")]
        assert len(names) == 4 and all(report[name]["value"] == last[name] for name in names)
    order = [int(row["index"]) for row in rows(project, "samples.csv")]
    assert sorted(order) == list(range(len(order))) and order != sorted(order)
