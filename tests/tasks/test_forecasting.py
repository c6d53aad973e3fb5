"""Forecasting a user's series."""

from collections.abc import Mapping
from datetime import date, timedelta
from math import sin
from pathlib import Path
from random import Random

import pytest

from scaffold.answers.catalog import Value
from support.bad_files import refuse_flags, refuse_paths
from support.files import replace_in
from support.rendering import of_task, write_project
from support.training import (
    ask,
    assert_evaluated,
    count_passed,
    last_metrics,
    read_rows,
    run,
    run_tests,
    said,
)

pytestmark = pytest.mark.train

TASK = "forecasting"
FILE = of_task(TASK, dataset="file", path="sales.csv", context=14, horizon=5, season=7)
FILE["training.num_workers"] = 0
BRIEF = ["--epochs", "1", "--batch-size", "16"]
DAYS = [str(date(2026, 1, 1) + timedelta(days=day)) for day in range(120)]


def list_rows() -> list[str]:
    """The values of shops by weekday, in no order, with a gap of days and an empty value."""
    draw, rows = Random(0), []
    for shop in range(5):
        for number, day in enumerate(DAYS):
            value = 100 * (shop + 1) + 20 * sin(0.9 * number) + draw.uniform(0, 9)
            if (shop, number) in ((0, 50), (0, 51), (1, 110), (2, 100)):
                continue  # a gap
            rows.append(f"{day},{'' if (shop, number) == (3, 40) else f'{value:.2f}'},00{shop}")
    draw.shuffle(rows)
    return rows


def write_rows(path: Path, rows: list[str]) -> None:
    path.write_text("\n".join(["time,value,series", *rows]) + "\n")


def make_project(folder: Path, given: Mapping[str, Value]) -> Path:
    """A project for a file of series, and the file."""
    write_project(folder, TASK, **{**FILE, **given})
    write_rows(folder / "sales.csv", list_rows())
    return folder


def test_a_users_file_trains_and_a_wrong_row_is_named(tmp_path: Path) -> None:
    """Nothing is trained then. The forecasts follow the last value of each series."""
    project = make_project(tmp_path, {f"{TASK}.loss": "quantiles"})
    assert "val_coverage" in run(project, "train.py", *BRIEF)
    rows = list_rows()
    ends = [row for row in rows if row < DAYS[100]]  # shop 2 has no value on its last day but one
    write_rows(project / "new.csv", [*ends, f"{DAYS[100]},,002", *(f"{d},7,new" for d in DAYS)])
    lines = read_rows(run(project, "predict.py", "new.csv"))
    assert len(lines) == 6 * 5
    for line in lines:
        values = [float(line[name]) for name in ("quantile_0.1", "forecast", "quantile_0.9")]
        assert values == sorted(values)
    times = [line["time"][:10] for line in lines if line["series"] == "002"]
    assert times == DAYS[100:105]
    last = date.fromisoformat(DAYS[-1])
    times = [line["time"][:10] for line in lines if line["series"] == "new"]
    assert times == [str(last + timedelta(days=day)) for day in range(1, 6)]
    constant = [float(line["forecast"]) for line in lines if line["series"] == "new"]
    assert all(3 < value < 11 for value in constant), "scaled by its own values"

    # rows behind the first two
    double, irregular = ["2026-01-01,1,x", "2026-01-01,2,x"], ["2026-01-03 12:00,1,x"]
    write_rows(project / "double.csv", [*rows[:2], *double, *rows[2:]])
    write_rows(project / "irregular.csv", [*rows[:2], *irregular, *rows[2:]])
    expected = {
        "double.csv": "double.csv: row 4 has a second value for series 'x' at 2026-01-01",
        "irregular.csv": "irregular.csv: can't infer the step",
    }
    refuse_paths(project, expected)
    between = "irregular.csv: row 3 has the time 2026-01-03 12:00, which is between two steps of D"
    few = "sales.csv: the validation data have no window: they have 12 steps"
    wrong = {
        ("--path", "irregular.csv", "--frequency", "D"): between,
        ("--horizon", "13"): few,
        ("--val-from", "2031-01-01"): "sales.csv has times from 2026-01-01",
        ("--test-from", "soon"): "--test-from soon: ",
        ("--season", "96"): "sales.csv: no series has a naive error",
    }
    refuse_flags(project, wrong)
    write_rows(project / "few.csv", rows[:3])
    [message] = said(project, "predict.py", ["few.csv"])
    assert message.startswith("few.csv: series '00") and "a forecast needs 14." in message


@pytest.mark.sweep
def test_gaps_are_refused_if_asked(tmp_path: Path) -> None:
    [message] = said(make_project(tmp_path, {f"{TASK}.missing": "refuse"}), "train.py", BRIEF)
    assert message == f"sales.csv: series '000' has no value at {DAYS[50]} 00:00:00."


@pytest.mark.sweep
def test_numbers_are_times_and_a_file_can_have_one_series(tmp_path: Path) -> None:
    """In Parquet, with names of another field, and borders of the user's."""
    given = {"time_column": "ds", "value_column": "y", "series_column": "", "path": "one.parquet"}
    project = make_project(tmp_path, {f"{TASK}.{key}": value for key, value in given.items()})
    rows = "{'ds': t, 'y': [x % 70 + x / 9 for x in t]}"
    code = f"import pandas; t = range(0, 1200, 10); pandas.DataFrame({rows})"
    run(project, "-c", f"{code}.to_parquet('one.parquet')")
    run(project, "train.py", *BRIEF, "--val-from", "900", "--test-from", "1000")
    code = "import predict\nparts = data.build_datasets(predict.load()[0])"
    starts = "[[int(part.starts[:, 1].min()), int(part.starts[:, 1].max())] for part in parts]"
    assert ask(project, code, starts) == [[14, 85], [90, 95], [100, 115]]
    assert run(project, "predict.py", "one.parquet").splitlines()[1].startswith("all,1200,")


# the same daily values in other files, and hours when summer time ends
FILES = """
import pandas as pd
days = pd.date_range("2026-01-20", periods=120)
rows = pd.DataFrame({"time": [*days] * 2, "series": ["NA"] * 120 + ["b"] * 120})
rows["value"] = [str(number) for number in range(240)]
rows.loc[[3, 130], "value"] = ["NA", ""]
rows.to_csv("na.csv", index=False)
rows["value"] = pd.to_numeric(rows["value"], errors="coerce")
rows["time"] = rows["time"].dt.tz_localize("Europe/Berlin")
rows.to_csv("zone.csv", index=False)
rows.to_parquet("zone.parquet")
rows.set_index("time").to_parquet("index.parquet")
rows.set_index(["series", "time"]).to_parquet("two.parquet")
hours = pd.date_range("2026-10-24", periods=120, freq="h", tz="Europe/Berlin")
rows.assign(time=[*hours] * 2).to_parquet("hours.parquet")
facts = []
for path in ("na.csv", "zone.csv", "zone.parquet", "index.parquet", "two.parquet", "hours.parquet"):
    found = data.read_series(train.Config(path=path))
    ends = [str(found.columns[place]) for place in (0, -1)]
    facts.append([*found.index, *ends, int(found.isna().sum().sum())])
"""


def test_files_with_time_zones_indices_and_a_series_named_na_are_read(tmp_path: Path) -> None:
    *days, hours = ask(write_project(tmp_path, TASK, **FILE), FILES, "facts")
    assert days == [["NA", "b", "2026-01-20 00:00:00", "2026-05-19 00:00:00", 2]] * 5
    assert hours == ["NA", "b", "2026-10-23 22:00:00", "2026-10-28 21:00:00", 2]


LEAKS = [
    ("table.iloc[:, :val_start]", "table", "leak_of_the_future"),
    ("starts[:, max(last - self.horizon + 1, 0) :] = False", "pass", "targets_stay_in_their_part"),
    ("start - self.context : start]", "start - self.context + 1 : start + 1]", "targets_stay"),
]


@pytest.mark.sweep
@pytest.mark.parametrize(("right", "leak", "test"), LEAKS, ids=[row[2] for row in LEAKS])
def test_a_planted_leak_is_seen(right: str, leak: str, test: str, tmp_path: Path) -> None:
    """By the tests of the project."""
    project = make_project(tmp_path, {})
    replace_in(project / "data.py", right, leak)
    result = run_tests(project, "tests/test_features.py", "-k", test)
    assert result.returncode == 1 and "1 failed" in result.stdout, result.stdout


EXACT = """
import pandas as pd
import torch
from data import build_loaders, find_borders, read_series
from predict import load
from utilsforecast import losses
config, model = load()
table, loader = read_series(config), build_loaders(config)[2]
parts, windows = [], loader.dataset
with torch.no_grad():
    for contexts, targets, scales in loader:
        mean, std, _ = scales.double().T[:, :, None, None]
        both = torch.cat([targets[:, :, None], model(contexts).reshape(*targets.shape, -1)], dim=2)
        parts.append(mean + std * both)
names = ["y", "low", "model", "high"] if both.shape[2] == 4 else ["y", "model"]
rows = pd.DataFrame(torch.cat(parts).flatten(0, 1).numpy(), columns=names)
rows["unique_id"] = windows.starts[:, 0].repeat_interleave(config.horizon).numpy()
rows = rows.dropna(subset="y")
train = table.iloc[:, : find_borders(table.columns, config)[0]].reset_index(drop=True)
train = train.reset_index(names="unique_id").melt("unique_id", var_name="ds", value_name="y")
train = train.sort_values(["unique_id", "ds"])
counts = rows.groupby("unique_id").size()
def mean(scores, name="model"):
    scores = scores.set_index("unique_id")[name]
    return float((scores * counts).sum() / counts.sum())
found = {
    "mae": mean(losses.mae(rows, ["model"])),
    "mase": mean(losses.mase(rows, ["model"], config.season, train)),
}
if "low" in rows:
    rows = rows.rename(columns={"low": "model-lo-80", "high": "model-hi-80"})
    found["coverage"] = mean(losses.coverage(rows, ["model"], 80))
"""


@pytest.mark.sweep
@pytest.mark.parametrize("loss", ["mae", "quantiles"])
def test_metrics_are_those_of_utilsforecast_on_any_processes(loss: str, tmp_path: Path) -> None:
    """On 1, 2 and 3 processes, of a number of windows that none of them divides, with gaps."""
    pytest.importorskip("utilsforecast", reason="utilsforecast is not installed")
    given = {f"{TASK}.loss": loss, "features.evaluate.enabled": True, f"{TASK}.horizon": 6}
    project = make_project(tmp_path, given)
    run(project, "train.py", "--epochs", "3", "--batch-size", "4")
    scores, size, targets = ask(project, EXACT, "[found, len(windows), int(counts.sum())]")
    assert size == 5 * 7 and targets < 6 * 35, "there are gaps"
    expected = {f"test_{name}": value for name, value in scores.items()}
    assert_evaluated(project, expected, rel=1e-5)
    for processes in (2, 3):
        run(project, "train.py", *BRIEF, "--output-dir", f"runs/{processes}", processes=processes)


@pytest.mark.sweep
@pytest.mark.parametrize("model", ["linear", "lstm", "transformer"])
@pytest.mark.parametrize("loss", ["mae", "quantiles"])
def test_a_users_file_passes_the_tests_of_its_project(
    model: str, loss: str, tmp_path: Path
) -> None:
    project = make_project(tmp_path, {f"{TASK}.model": model, f"{TASK}.loss": loss})
    assert count_passed(run_tests(project)) >= 28


NAIVE = """
from metrics import count_errors, forecast_scores
import torch
contexts, targets, scales = (torch.stack(part) for part in zip(*data.build_datasets(config)[2]))
naive = contexts[:, -config.season :][:, : config.horizon]
scores = forecast_scores(count_errors(naive, targets, scales).sum(dim=0))
"""


@pytest.mark.sweep
@pytest.mark.parametrize("model", ["linear", "lstm", "transformer"])
def test_all_models_are_better_than_the_naive_forecast(model: str, tmp_path: Path) -> None:
    """On the default data, where the page says that the naive forecast has a MASE of 1."""
    project = write_project(tmp_path, TASK, model=model)
    assert ask(project, NAIVE, "scores['mase']") == pytest.approx(1, abs=0.05)
    run(project, "train.py")
    assert last_metrics(project)["test_mase"] < 0.8


@pytest.mark.sweep
def test_an_interval_holds_as_many_values_as_it_says(tmp_path: Path) -> None:
    """Of the made-up series, with the default settings: 80 % of the test data, up to 4 %."""
    project = write_project(tmp_path, TASK, loss="quantiles")
    run(project, "train.py")
    assert abs(last_metrics(project)["test_coverage"] - 0.8) < 0.04
