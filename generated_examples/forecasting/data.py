"""The data: contexts, shape (batch, context), and the values after them, shape (batch, horizon).

Both are scaled by the mean and standard deviation of their series. Missing values are
NaN in the targets, and replaced by the last known value in the contexts.
"""

import csv
import sys
from functools import cache
from itertools import pairwise
from math import pi

import numpy as np
import pandas as pd
import torch
from accelerate import PartialState
from pandas.api.types import is_numeric_dtype
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from scales import Scales


class Windows(Dataset):
    """Windows whose targets are all between two steps. Their contexts may begin earlier.

    `values` has a row for each series and a column for each step. A sample is the context, the
    targets, and the mean, standard deviation and naive error of the series.
    """

    def __init__(self, values: np.ndarray, scales: Scales, first: int, last: int, config) -> None:
        self.context, self.horizon = config.context, config.horizon
        self.scales = torch.tensor(scales.rows, dtype=torch.float32)
        self.targets = torch.tensor(scales.scale(values), dtype=torch.float32)
        self.filled = fill(self.targets)
        # each series, and the step of its first target
        starts = (~self.targets.isnan()).unfold(1, self.horizon, 1).any(dim=2)
        has_begun = (~self.filled.isnan()).roll(self.context, dims=1)  # before the context
        starts &= has_begun[:, : starts.shape[1]]
        starts[:, : max(first, self.context)] = False
        starts[:, max(last - self.horizon + 1, 0) :] = False
        self.starts = starts.nonzero()

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor, Tensor]:
        row, start = self.starts[index].tolist()
        context = self.filled[row, start - self.context : start]
        return context, self.targets[row, start : start + self.horizon], self.scales[row]


def fill(values: Tensor) -> Tensor:
    """Each NaN becomes the last value before it in its row, if there is one."""
    steps = torch.arange(values.shape[1]).expand_as(values)
    last = steps.where(~values.isnan(), 0).cummax(dim=1).values
    return values.gather(1, last)


@cache
def read_series(config) -> pd.DataFrame:
    """A row for each series and a column for each step, NaN where a value is missing."""
    times = pd.date_range("2026-01-01", periods=800, freq="h", name="time")
    rng, hours = np.random.default_rng(0), np.arange(len(times))
    rows = {}
    for number in range(16):
        level, slope = rng.uniform(50, 500), rng.normal(0, 0.02)
        size = level * rng.uniform(0.1, 0.3)
        one, two = rng.uniform(0, 2 * pi, 2)
        day, cycle = np.sin(2 * pi * hours / 24 + one), np.sin(2 * pi * hours / 60 + two)
        noise = rng.normal(0, 0.3, len(hours))
        rows[f"series {number}"] = level + slope * hours + size * (day + 0.7 * cycle + noise)
    return pd.DataFrame(rows, index=times).T.rename_axis("series")


@cache
def fit_scales(config) -> Scales:
    """The scale of each series, from its training part only."""
    table = read_series(config)
    val_start, _ = find_borders(table.columns, config)
    scales = Scales.fit(table.iloc[:, :val_start], config.season, find_step(table.columns))
    if not any(naive_error for *_, naive_error in scales.rows):
        raise SystemExit(
            f"made-up series: no series has a naive error to compare with: all are constant, or "
            f"their training part is no longer than a season. Lower --season {config.season}."
        )
    return scales


def build_datasets(config) -> list[Dataset]:
    """The windows for training, validation and test, split by time, the same for all series."""
    table, scales = read_series(config), fit_scales(config)
    borders = [0, *find_borders(table.columns, config), table.shape[1]]
    if table.shape[1] < config.context + config.horizon:
        raise SystemExit(
            f"made-up series: the series have {table.shape[1]} steps, fewer than --context and "
            "--horizon together."
        )
    parts = [
        Windows(table.to_numpy(), scales, first, last, config) for first, last in pairwise(borders)
    ]
    trained = set(parts[0].starts[:, 0].tolist())
    if short := [name for row, name in enumerate(table.index) if row not in trained]:
        raise SystemExit(
            f"made-up series: series {short[0]!r} has no window for training: it needs "
            f"{config.context} values and {config.horizon} more before "
            f"{table.columns[borders[1]]}. Leave it out, or lower --context or --horizon."
        )
    for number, name in enumerate(("validation", "test"), start=1):
        if not len(parts[number]):
            steps = borders[number + 1] - borders[number]
            raise SystemExit(
                f"made-up series: the {name} data have no window: they have {steps} steps, and a "
                f"forecast has {config.horizon} (--horizon)."
            )
    return parts


def find_step(times: pd.Index) -> str:
    """The step between times, as a pandas frequency or a whole number."""
    return times.freqstr if isinstance(times, pd.DatetimeIndex) else str(times.step)


def find_borders(times: pd.Index, config) -> list[int]:
    """The first steps of the validation and the test data."""
    return [int(0.8 * len(times)), int(0.9 * len(times))]


# tables with a value per row


@cache
def note(text: str) -> None:
    """Print a line once, on the main process. Not to stdout: predictions may be there."""
    if PartialState().is_main_process:
        print(text, file=sys.stderr)


def check_names(names: list[str], path: str) -> list[str]:
    """The names of the columns. One without a name gets its number, as in pandas."""
    if len(names) < 2 and (other := [mark for mark in ";\t|" if mark in "".join(names)]):
        raise SystemExit(f"{path} has {other[0]!r} between its columns: write commas instead.")
    names = [name.strip() or f"Unnamed: {number}" for number, name in enumerate(names)]
    if twice := [name for name in names if names.count(name) > 1]:
        raise SystemExit(f"{path} has two columns {twice[0]!r}: rename one of them.")
    return names


def read_csv(path: str) -> tuple[list[str], list[list[str]]]:
    """The names of the columns, and the cells of each row, without spaces around them.

    Raises SystemExit for a row that has another number of cells.
    """
    rows = []
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            lines = csv.reader(file, strict=True, skipinitialspace=True)
            names = check_names(next(lines, []), path)
            for row in filter(None, lines):
                rows.append([cell.strip() for cell in row])
                if len(row) != len(names):
                    raise SystemExit(
                        f"{path}, row {len(rows)} has {len(row)} cells, and the first line names "
                        f"{len(names)} columns: {', '.join(names):.60}. Quote a cell that has "
                        "commas, and end no row with a comma more than the first line."
                    )
                if names == [cell.strip("\ufeff") for cell in rows[-1]] and len(names) > 1:
                    raise SystemExit(
                        f"{path}, row {len(rows)} names the columns again: leave it out."
                    )
    except UnicodeDecodeError as error:
        raise SystemExit(f"{path} is not text in UTF-8: save it as CSV in UTF-8.") from error
    except (OSError, ValueError, csv.Error) as error:
        raise SystemExit(f"{path} can't be read as CSV: {error}") from error
    return names, rows


def read_table(path: str, config) -> pd.DataFrame:
    """The rows of a CSV file with the columns time, value and series."""
    names, rows = read_csv(path)
    table = pd.DataFrame(rows, columns=names, dtype=object).replace("", None)
    if missing := [name for name in ("time", "value", "series") if name not in table]:
        raise SystemExit(f"{path} lacks the columns {', '.join(missing)}.")
    return table.assign(time=parse_times(table["time"]))


def parse_times(times: pd.Series) -> pd.Series:
    """Texts of whole numbers as numbers. Other times stay as they are."""
    numbers = pd.to_numeric(times, errors="coerce")
    is_text = not isinstance(times.dtype, pd.DatetimeTZDtype) and times.dtype == object
    return numbers if is_text and numbers.notna().all() else times


def arrange(table: pd.DataFrame, path: str, step: str = "") -> pd.DataFrame:
    """Turn rows of time, value and series into a row per series and a column per step.

    Raises SystemExit for an invalid row.
    """
    if table.empty:
        raise SystemExit(f"{path} has no rows.")
    table = table.reset_index(drop=True)
    refuse(table["series"].isna(), table, path, "has no series name")
    times = read_times(table, path)
    values = pd.to_numeric(table["value"], errors="coerce")
    wrong = (values.isna() & table["value"].notna()) | (values.abs() > np.finfo("float32").max)
    refuse(wrong, table, path, "has the value '{value}', which is not a number of 32 bits")
    double = pd.DataFrame({"series": table["series"], "time": times}).duplicated()
    refuse(double, table, path, "has a second value for series '{series}' at {time}")
    grid = build_grid(times, step, path)
    problem = "has the time {time}, which is between two steps of " + find_step(grid)
    refuse(~times.isin(grid), table, path, problem + ": correct it, or set --frequency")
    table = table.assign(series=table["series"].astype(str), time=times, value=values.astype(float))
    wide = table.pivot(index="series", columns="time", values="value")
    wide = wide.reindex(columns=grid).dropna(how="all")
    return wide


def refuse(wrong: pd.Series, table: pd.DataFrame, path: str, problem: str) -> None:
    """Raises SystemExit with the first wrong row, counted from 1 below the header."""
    if wrong.any():
        row = int(wrong.to_numpy().argmax())
        raise SystemExit(f"{path}: row {row + 1} {problem.format(**table.iloc[row])}.")


def find_format(times: pd.Series) -> str:
    """How whole numbers write dates: %Y%m for 202603, %Y%m%d for 20260314. Empty: they are none."""
    if is_numeric_dtype(times) and (times % 1 == 0).all():
        for pattern, first, last in (("%Y%m", 190001, 210012), ("%Y%m%d", 19000101, 21001231)):
            dates = pd.to_datetime(
                times.astype("int64").astype(str), format=pattern, errors="coerce"
            )
            if times.between(first, last).all() and dates.notna().all():
                return pattern
    return ""


def read_times(table: pd.DataFrame, path: str) -> pd.Series:
    """Times in UTC, or whole numbers. 202603 and 20260314 are dates, as midnight in a time zone."""
    given = table["time"]
    if is_numeric_dtype(given):
        refuse(given % 1 != 0, table, path, "has the time {time}, which is not a whole number")
        given, pattern = given.astype("int64"), find_format(given)
        return pd.to_datetime(given.astype(str), format=pattern) if pattern else given
    numbers = pd.to_numeric(given, errors="coerce")
    if numbers.notna().sum() > len(given) / 2 and given.dtype == object:
        refuse(numbers.isna(), table, path, "has the time '{time}' among whole numbers")
    times = pd.to_datetime(given, format="ISO8601", errors="coerce", utc=True)
    refuse(times.isna(), table, path, "has the time '{time}': use a date such as 2026-03-14")
    offset = r"(:\d\d(?:\.\d+)?)(?:Z|[+-]\d\d(?::?\d\d)?)$"
    local = given.astype(str).str.replace(offset, r"\1", regex=True)
    zoned = local != given.astype(str)
    problem = "has the time '{time}', and row 1 '%s': write all times with a time zone, or none"
    refuse(zoned != zoned.iloc[0], table, path, problem % given.iloc[0])
    local = pd.to_datetime(local, format="ISO8601")
    # in UTC, days would not be of one length when summer time begins or ends
    if (local == local.dt.normalize()).all():
        return local
    times = times.dt.tz_localize(None)
    if (times != local).any():
        note(f"{path}: times of other time zones are read, and forecast, in UTC")
    return times


def build_grid(times: pd.Series, step: str, path: str) -> pd.Index:
    """All times from the first to the last. Without a step, it is inferred from them."""
    first, last = times.min(), times.max()
    try:
        if is_numeric_dtype(times):
            inferred = np.gcd.reduce(np.diff(np.sort(times.unique())))
            return pd.RangeIndex(first, last + 1, int(step or inferred or 1))
        step = step or pd.infer_freq(times.drop_duplicates().sort_values())
        if step:
            return pd.date_range(first, last, freq=step)
    except ValueError as error:
        raise SystemExit(f"{path}: the step between its times: {error}") from error
    raise SystemExit(f"{path}: can't infer the step between its times: set --frequency.")


def build_loaders(config) -> tuple[DataLoader, DataLoader, DataLoader]:
    """The training, validation and test loaders, before accelerator.prepare()."""
    train_set, val_set, test_set = build_datasets(config)
    train_loader = DataLoader(
        train_set,
        config.batch_size,
        shuffle=True,
        drop_last=True,
        num_workers=config.num_workers,
        generator=torch.Generator().manual_seed(config.seed),  # leaves dropout's RNG alone
    )
    settings = {
        "batch_size": 4 * config.batch_size,  # evaluation keeps no activations
        "num_workers": config.num_workers,
        "generator": torch.Generator(),  # else evaluating advances the RNG of dropout
    }
    val_loader, test_loader = DataLoader(val_set, **settings), DataLoader(test_set, **settings)
    return train_loader, val_loader, test_loader
