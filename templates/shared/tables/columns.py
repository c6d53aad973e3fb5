#: file when project.task=tabular_classification|tabular_regression path=given
"""How the columns of a table become numbers. columns.json saves it with the weights."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pandas as pd
import torch
from pandas.api.types import is_numeric_dtype
from torch import Tensor

from lib.columns import (
    check_zones,
    find_start,
    has_zone,
    is_date,
    place_of,
    to_numbers,
    to_texts,
)


@dataclass(frozen=True)
class Columns:
    """What was learned about each column from the training rows."""

    medians: dict[str, float]  # of numeric and date columns: they replace empty cells
    empty: list[str]  # columns with empty cells: an extra column of 0 and 1 flags them
    first_days: dict[str, str]  # of date columns, which become the days since then
    categories: dict[str, list[str]]  # of text columns: each category becomes a column of 0 and 1
    #: slot columns_fields
    starts: dict[str, float] = field(default_factory=dict)  # subtracted: 32 bits are too few
    zoned: list[str] = field(default_factory=list)  # date columns whose times have a time zone

    @classmethod
    def fit(cls, table: pd.DataFrame, **settings) -> "Columns":
        """Learn from training rows, without the target."""
        if table.shape[1] == 0:
            raise SystemExit(f"{table.index[0][0]} has no columns beside the target.")
        #: slot parse
        if useless := [str(name) for name in table if table[name].isna().all()]:
            raise SystemExit(
                f"{table.index[0][0]}: no training row has a value of {', '.join(useless)}: add "
                f"{','.join(useless)} to --drop-columns."
            )
        first_days = {name: min(table[name].dropna()) for name in table if is_date(table[name])}
        first_days = {name: str(day)[:10] for name, day in first_days.items()}
        zoned = [name for name in first_days if has_zone(table[name].dropna()).iloc[0]]
        for name in first_days:
            check_zones(table[name], name in zoned)
        numbers = {
            name: to_numbers(table[name], first_days.get(name))
            for name in table
            if name in first_days or is_numeric_dtype(table[name])
        }
        texts = {
            name: to_texts(table[name]).dropna().unique() for name in table if name not in numbers
        }
        if many := [name for name, values in texts.items() if len(values) > 50]:
            cells = to_texts(table[many[0]]).dropna()
            words = pd.to_numeric(cells, errors="coerce").isna()
            shown = words if words.any() else cells.notna()
            raise SystemExit(
                f"{place_of(cells, shown)}: {many[0]} is {cells[shown].iloc[0]!r}, one of more "
                "than 50 different texts. If most are numbers, correct this one; else turn them "
                f"into numbers, or add {','.join(many)} to --drop-columns."
            )
        return cls(
            medians={name: float(values.median()) for name, values in numbers.items()},
            empty=[name for name, values in numbers.items() if values.isna().any()],
            first_days=first_days,
            categories={name: sorted(values) for name, values in texts.items()},
            starts={name: start for name in numbers if (start := find_start(numbers[name]))},
            zoned=zoned,
            **settings,
        )

    def transform(self, table: pd.DataFrame) -> Tensor:
        """The rows as numbers, shape (rows, len(names)). An unknown category is all zeros."""
        if missing := [name for name in (*self.medians, *self.categories) if name not in table]:
            file = table.index[0][0]
            raise SystemExit(f"{file} lacks columns that the model needs: {', '.join(missing)}.")
        for name in self.first_days:
            check_zones(table[name], name in self.zoned)
        numbers = {
            name: to_numbers(table[name], self.first_days.get(name)) for name in self.medians
        }
        columns = [
            numbers[name].fillna(median) - self.starts.get(name, 0)
            for name, median in self.medians.items()
        ]
        columns += [numbers[name].isna() for name in self.empty]
        for name, values in self.categories.items():
            texts = to_texts(table[name])
            columns += [texts == value for value in values]
        return torch.tensor(pd.concat(columns, axis=1).to_numpy("float32"))

    def find_unknown(self, table: pd.DataFrame) -> list[str]:
        """A line for each column with a category that no training row has."""
        lines = []
        for name, known in self.categories.items():
            texts = to_texts(table[name])
            unknown = texts.notna() & ~texts.isin(known)
            if unknown.any():
                lines.append(
                    f"{place_of(texts, unknown)}: {name} is {texts[unknown].iloc[0]!r}, which no "
                    f"training row has, as in {unknown.sum()} row(s): it counts as none of them."
                )
        return lines

    def describe(self) -> list[str]:
        """A line for each kind of column: what was understood."""
        numbers = [name for name in self.medians if name not in self.first_days]
        lines = [f"numbers: {', '.join(numbers)}"] if numbers else []
        lines += [f"dates: {', '.join(self.first_days)}"] if self.first_days else []
        for name, texts in self.categories.items():
            more = ", ..." if len(texts) > 5 else ""
            lines.append(f"categories of {name}: {', '.join(texts[:5])}{more}")
        return lines

    @property
    def names(self) -> list[str]:
        """A name for each value of a row."""
        texts = [f"{name}={text}" for name, values in self.categories.items() for text in values]
        return [*self.medians, *(f"{name} is empty" for name in self.empty), *texts]

    def save(self, folder: str | Path) -> None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        text = json.dumps(asdict(self), indent=1, ensure_ascii=False)
        Path(folder, "columns.json").write_text(text, encoding="utf-8")

    @classmethod
    def load(cls, folder: str | Path) -> "Columns":
        return cls(**json.loads(Path(folder, "columns.json").read_text(encoding="utf-8")))


#: slot functions
#: end file

from lib.columns import parse_numbers

#: slot parse when dataset=csv
table = parse_numbers(table)
