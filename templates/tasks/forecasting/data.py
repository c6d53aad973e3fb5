#: file
"""The data: contexts, shape (batch, context), and the values after them, shape (batch, horizon).

Both are scaled by the mean and standard deviation of their series. Missing values are
NaN in the targets, and replaced by the last known value in the contexts.
"""

from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd
import torch
from pandas.api.types import is_numeric_dtype
from scales import Scales
from torch import Tensor
from torch.utils.data import Dataset


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
    ...  #: slot read_series


@cache
def fit_scales(config) -> Scales:
    """The scale of each series, from its training part only."""
    table = read_series(config)
    val_start, _ = find_borders(table.columns, config)
    scales = Scales.fit(table.iloc[:, :val_start], config.season, find_step(table.columns))
    if not any(naive_error for *_, naive_error in scales.rows):
        raise SystemExit(
            f"{{ task.source }}: no series has a naive error to compare with: all are constant, or "
            f"their training part is no longer than a season. Lower --season {config.season}."
        )
    return scales


def build_datasets(config) -> list[Dataset]:
    """The windows for training, validation and test, split by time, the same for all series."""
    table, scales = read_series(config), fit_scales(config)
    borders = [0, *find_borders(table.columns, config), table.shape[1]]
    if table.shape[1] < config.context + config.horizon:
        raise SystemExit(
            f"{{ task.source }}: the series have {table.shape[1]} steps, fewer than --context and "
            "--horizon together."
        )
    parts = [
        Windows(table.to_numpy(), scales, first, last, config) for first, last in pairwise(borders)
    ]
    trained = set(parts[0].starts[:, 0].tolist())
    if short := [name for row, name in enumerate(table.index) if row not in trained]:
        raise SystemExit(
            f"{{ task.source }}: series {short[0]!r} has no window for training: it needs "
            f"{config.context} values and {config.horizon} more before "
            f"{table.columns[borders[1]]}. Leave it out, or lower --context or --horizon."
        )
    for number, name in enumerate(("validation", "test"), start=1):
        if not len(parts[number]):
            steps = borders[number + 1] - borders[number]
            raise SystemExit(
                f"{{ task.source }}: the {name} data have no window: they have {steps} steps, and a "
                f"forecast has {config.horizon} (--horizon)."
            )
    return parts


def find_step(times: pd.Index) -> str:
    """The step between times, as a pandas frequency or a whole number."""
    return times.freqstr if isinstance(times, pd.DatetimeIndex) else str(times.step)


#: slot find_borders


# tables with a value per row


#: slot row_readers


#: slot read_table


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
    #: slot check_series
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


#: slot datasets


#: slot build_loaders
#: end file

from math import pi

from pandas.api.types import is_string_dtype

from lib.cells import read_csv
from lib.names import check_spelling
from lib.notes import note, note_ignored

#: slot read_series when dataset=series
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

#: slot find_borders when dataset=series
def find_borders(times: pd.Index, config) -> list[int]:
    """The first steps of the validation and the test data."""
    return [int(0.8 * len(times)), int(0.9 * len(times))]

#: slot read_table when dataset=series
def read_table(path: str, config) -> pd.DataFrame:
    """The rows of a CSV file with the columns time, value and series."""
    names, rows = read_csv(path)
    table = pd.DataFrame(rows, columns=names, dtype=object).replace("", None)
    if missing := [name for name in ("time", "value", "series") if name not in table]:
        raise SystemExit(f"{path} lacks the columns {', '.join(missing)}.")
    return table.assign(time=parse_times(table["time"]))

#: slot read_table
def parse_times(times: pd.Series) -> pd.Series:
    """Texts of whole numbers as numbers. Other times stay as they are."""
    numbers = pd.to_numeric(times, errors="coerce")
    is_text = not isinstance(times.dtype, pd.DatetimeTZDtype) and times.dtype == object
    return numbers if is_text and numbers.notna().all() else times

#: slot read_series when dataset=file
return arrange(read_table(config.path, config), config.path, config.frequency)

#: slot find_borders when dataset=file
def find_borders(times: pd.Index, config) -> list[int]:
    """The first steps of the validation and the test data."""
    borders = []
    for flag, given, share in (
        ("--val-from", config.val_from, 0.8),
        ("--test-from", config.test_from, 0.9),
    ):
        try:
            borders.append(find_place(times, given) if given else int(share * len(times)))
        except (TypeError, ValueError) as error:
            raise SystemExit(f"{flag} {given}: {error}") from error
    if not 0 < borders[0] < borders[1] < len(times):
        raise SystemExit(
            f"{config.path} has times from {times[0]} to {times[-1]}: --val-from and --test-from "
            "must be between them, in this order."
        )
    return borders


#: region facts when project.loop=complete
def describe_data(config) -> str:
    """What was understood of the file, with a line for each fact."""
    table = read_series(config)
    times, (val_start, test_start) = table.columns, find_borders(table.columns, config)
    first, val, test, last = (times[step] for step in (0, val_start, test_start, -1))
    ends = table.apply(pd.Series.last_valid_index, axis=1)
    lines = [
        f"{config.path}: {len(table):,} series of {len(times):,} steps of {find_step(times)}",
        f"from {first} to {last}; validation from {val}, test from {test}",
        f"{int(table.isna().to_numpy().sum()):,} of {table.size:,} values are missing",
    ]
    if (early := ends[ends < last]).size:
        lines.append(
            f"{len(early):,} series end earlier, such as {early.index[0]!r} at {early.iloc[0]}"
        )
    return "\n".join(lines)
#: end facts


def find_place(times: pd.Index, time: str) -> int:
    """How many of the times are before this one."""
    is_date = isinstance(times, pd.DatetimeIndex)
    if not is_date:
        return int(times.searchsorted(int(time)))
    numbers = pd.Series([int(time)]) if time.isdigit() else pd.Series([time])
    pattern = find_format(numbers)
    return int(times.searchsorted(pd.to_datetime(time, format=pattern or "ISO8601")))

#: slot read_table when dataset=file
# how files write that there is no value; NA can also be the name of a series
MISSING = ["", "NA", "N/A", "n/a", "<NA>", "#N/A", "NaN", "nan", "NULL", "null", "None"]


def read_table(path: str, config) -> pd.DataFrame:
    """The rows of a file, with the columns time, value and series."""
    names = {config.time_column: "time", config.value_column: "value"}
    if config.series_column:
        names[config.series_column] = "series"
    if path.lower().endswith(".parquet"):
        try:
            table = pd.read_parquet(path)
        except (OSError, ValueError) as error:
            raise SystemExit(f"{path} can't be read: {error}") from error
        if not isinstance(table.index, pd.RangeIndex):
            table = table.reset_index()  # the index often holds the time
        texts = [name for name in table if is_string_dtype(table[name])]
        table = table.astype(dict.fromkeys(texts, object))
    else:
        columns, rows = read_csv(path)
        table = pd.DataFrame(rows, columns=columns, dtype=object).replace("", None)
    if missing := [name for name in names if name not in table]:
        flag = f"--{names[missing[0]]}-column"
        found = ", ".join(map(str, table.columns))
        raise SystemExit(f"{path} has no column {missing[0]!r}. Set {flag} to one of {found}.")
    note_ignored(path, table.columns, list(names))
    table = table[list(names)].rename(columns=names)
    known = table["value"].where(~table["value"].astype(str).isin(MISSING))
    table = table.assign(time=parse_times(table["time"]), value=known)
    check_times(table["time"], path)
    if config.series_column:
        first = table["series"].dropna().astype(str).drop_duplicates()
        check_spelling({name: f"{path}, row {row + 1}" for row, name in first.items()}, "series")
    return table if config.series_column else table.assign(series="all")


def check_times(times: pd.Series, path: str) -> None:
    """Raises SystemExit for weeks, quarters or hours as numbers: 202652 is followed by 202701."""
    if not is_numeric_dtype(times):
        return
    dates = pd.to_datetime(times.astype(str), format="%Y%m%d%H", errors="coerce")
    found = [
        noun
        for noun, base, right in (
            ("quarters", 10, (times % 10).between(1, 4).all()),
            ("weeks", 100, (times % 100).between(1, 53).all() and (times % 100).max() > 12),
            ("hours", 1_000_000, dates.notna().all()),
        )
        if right and (times // base).between(1900, 2100).all() and times.nunique() > 4
    ]
    if found:
        raise SystemExit(
            f"{path}: row 1 has the time {times.iloc[0]}, a number with {found[0]}: write when it "
            "begins, as in 2026-03-14 or 2026-03-14T10:00."
        )

#: slot check_series when missing=refuse
for name, row in wide.iterrows():
    known = row.loc[row.first_valid_index() : row.last_valid_index()].notna()
    if not known.all():
        raise SystemExit(f"{path}: series {name!r} has no value at {known.idxmin()}.")
