#: into columns.py at functions
"""How the columns of a table become numbers. columns.json saves it with the weights."""

import pandas as pd
from pandas.api.types import is_numeric_dtype


def is_date(values: pd.Series) -> bool:
    """Whether all cells are dates such as 2026-03-14, or empty."""
    texts = values.dropna().astype(str)
    return not is_numeric_dtype(values) and texts.str.match(r"\d{4}-\d\d-\d\d").all()


def to_numbers(values: pd.Series, first_day: str | None) -> pd.Series:
    """The numbers of a column, or the days since the first one. Empty cells are NaN."""
    try:
        if first_day is None:
            return pd.to_numeric(values).astype("float64")
        days = pd.to_datetime(values, format="ISO8601", utc=True)
        return (days - pd.Timestamp(first_day, tz="UTC")) / pd.Timedelta(days=1)
    except (ValueError, TypeError) as error:
        kind, read = ("a date", pd.to_datetime) if first_day else ("a number", pd.to_numeric)
        wrong = read(values, errors="coerce").isna() & values.notna()
        row = f"row {values.index[wrong.argmax()] + 1}"
        name = values.name
        raise SystemExit(f"{row}: {name} is {kind} in the training rows: {error}") from error


def to_texts(values: pd.Series) -> pd.Series:
    return values.astype("object").map(str, na_action="ignore")
