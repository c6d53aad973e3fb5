#: into columns.py at functions
"""How the columns of a table become numbers. columns.json saves it with the weights."""

import numpy as np
import pandas as pd
from accelerate import PartialState
from pandas.api.types import (
    infer_dtype,
    is_float_dtype,
    is_integer_dtype,
    is_numeric_dtype,
)

EXCEL_ERRORS = ("#n/a", "#div/0!", "#name?", "#null!", "#num!", "#ref!", "#value!")
MISSING = (  # what files write where there is no number, in small letters
    *("", "-", "--", "---", ".", "..", ":", "?", "na", "n/a", "n.a.", "nan", "none", "null", "nil"),
    *("n/d", "n.d.", "missing", "unknown", "not available", "<na>", "(null)", "\\n"),
)
DIGITS = (
    r"[\d.,' ]*,[\d.]+|\d{1,3}(?:[' _\u00a0\u202f]\d{3})+(?:\.\d+)?|\d*\.?\d+"
    r"|\d{1,3}(?:\.\d{3}){2,}"
)
# numbers as other programs write them: 1,5 or 1'234 or 5% or $5, or with the minus of Unicode
OTHER_NUMBERS = rf"[-+\u2212]?[$€£¥]? ?(?:{DIGITS}) ?[%$€£¥]?"
OTHER_DATES = (
    r"(?:\d\d?([./-])\d\d?\1\d{4}|\d{4}([./])\d\d?\2\d\d?|\d\d?/\d\d?/\d\d)(?:[ T]\d.*)?"
)
BOOLEANS = {"True": 1, "TRUE": 1, "true": 1, "False": 0, "FALSE": 0, "false": 0}


def place_of(values: pd.Series, wrong: pd.Series) -> str:
    """The file and the row of the first wrong value."""
    row = values.index[wrong.to_numpy().argmax()]
    return f"{row[0]}, row {row[1]}" if isinstance(row, tuple) else f"row {row + 1}"


def parse_numbers(table: pd.DataFrame) -> pd.DataFrame:
    """The table with numbers in the columns of texts that are numbers. 01 is a code, not a number.

    Only an empty cell is missing. Raises SystemExit for a word such as NA among numbers.
    """
    parsed = {}
    for name in table:
        texts = table[name].dropna()
        numbers = pd.to_numeric(texts.replace(BOOLEANS), errors="coerce")
        words = texts[numbers.isna()]
        if (other := texts.str.fullmatch(OTHER_DATES)).any():
            place = place_of(texts, other)
            raise SystemExit(
                f"{place}: {name} is {texts[other].iloc[0]!r}: write dates as in 2026-03-14."
            )
        if texts.str.match(r"[+-]?0\d").any():
            continue
        no_numbers = words.str.lower().isin([*MISSING, *EXCEL_ERRORS])
        if 0 < len(words) < len(texts) and no_numbers.all():
            place = place_of(texts, numbers.isna())
            raise SystemExit(
                f"{place}: {name} is {words.iloc[0]!r} among numbers. If there is no number, leave "
                "the cell empty; if it is a category, use another word, such as other."
            )
        if not words.empty and words.str.fullmatch(OTHER_NUMBERS).all():
            place = place_of(texts, numbers.isna())
            raise SystemExit(
                f"{place}: {name} is {words.iloc[0]!r}: write numbers as in 2.5, and categories "
                "with a letter."
            )
        if len(words) and texts[numbers.notna()].str.contains(".", regex=False).any():
            place, number = place_of(texts, numbers.isna()), texts[numbers.notna()].iloc[0]
            raise SystemExit(
                f"{place}: {name} is {words.iloc[0]!r} among numbers such as {number}: correct it. "
                "If all are names of categories, write no numbers with a point."
            )
        counted = numbers.notna() & ~texts.isin(BOOLEANS)
        if 0 < len(words) < counted.sum():
            PartialState().print(
                f"{place_of(texts, numbers.isna())}: {name} is {words.iloc[0]!r} and no number, as "
                f"in {len(words):,} of {len(texts):,} rows: all are taken as categories. If these "
                "cells have no number, leave them empty."
            )
        if words.empty:
            parsed[name] = pd.to_numeric(table[name].replace(BOOLEANS))
            if parsed[name].dtype == object:  # whole numbers of more than 64 bits
                parsed[name] = parsed[name].astype("float64")
    return table.assign(**parsed)


def read_cells(values: pd.Series) -> pd.Series:
    """A column of Parquet as that of a .csv file: decimals are numbers, an empty text is none.

    Categories stay categories.
    """
    if isinstance(values.dtype, pd.CategoricalDtype):  # also if their names are numbers
        numbers = is_numeric_dtype(values.cat.categories)
        values = to_texts(values.astype(object)) if numbers else values.astype(object)
    kind = infer_dtype(values, skipna=True)
    if kind == "decimal":
        return pd.to_numeric(values).convert_dtypes()
    return values.str.strip().replace("", None) if kind == "string" else values


def check_kinds(table: pd.DataFrame) -> None:
    """Raises SystemExit for a column of Parquet with lists, bytes and the like."""
    for name in table:
        kind = infer_dtype(table[name], skipna=True)
        if kind not in ("boolean", "date", "datetime64", "floating", "integer", "string", "empty"):
            place = place_of(table, table[name].notna())
            raise SystemExit(
                f"{place}: {name} is {table[name].dropna().iloc[0]!r:.60}: turn it into numbers or "
                f"texts, or add {name} to --drop-columns."
            )


def is_date(values: pd.Series) -> bool:
    """Whether all cells are dates such as 2026-03-14, or empty. Raises SystemExit if most are."""
    texts = values.dropna().astype(str)
    dates = texts.str.match(r"\d{4}-\d\d-\d\d")
    if is_numeric_dtype(values) or dates.sum() <= len(texts) / 2:
        return False
    if not dates.all():
        raise SystemExit(
            f"{place_of(texts, ~dates)}: {values.name} is {texts[~dates].iloc[0]!r} among dates "
            f"such as {texts[dates].iloc[0]}: correct it, or leave the cell empty."
        )
    return True


def has_zone(times: pd.Series) -> pd.Series:
    """Which cells are times with a time zone, as in 2026-03-14T10:00Z."""
    return times.astype(str).str.contains(r"[T ].*(?:Z|[+-]\d\d(?::?\d\d)?)$")


def check_zones(times: pd.Series, zoned: bool) -> None:
    """Raises SystemExit for a time without a time zone among others, or with one."""
    wrong = times.notna() & (has_zone(times) != zoned)
    if wrong.any():
        raise SystemExit(
            f"{place_of(times, wrong)}: {times.name} is '{times[wrong].iloc[0]}', "
            f"{'without' if zoned else 'with'} a time zone, unlike other training rows: write all "
            "times with one, or none."
        )


def to_numbers(values: pd.Series, first_day: str | None = None) -> pd.Series:
    """The numbers of a column, or the days since the first one. Empty cells are NaN."""
    if first_day:
        numbers = pd.to_datetime(values, format="ISO8601", utc=True, errors="coerce")
        wrong = numbers.isna() & values.notna()
    else:
        numbers = pd.to_numeric(values.replace(BOOLEANS), errors="coerce")
        if numbers.isna().any() or not is_integer_dtype(numbers):  # whole numbers are exact
            numbers = numbers.astype("float64")
        limit = np.finfo("float32").max
        wrong = (numbers.isna() & values.notna()) | (numbers.astype("float64").abs() > limit)
    if wrong.any():
        kind = "a date such as 2026-03-14" if first_day else "a finite number of 32 bits"
        raise SystemExit(
            f"{place_of(values, wrong)}: {values.name} is {str(values[wrong].iloc[0])!r}, and not "
            f"{kind}, as in the training rows: correct it, or leave the cell empty."
        )
    return (
        (numbers - pd.Timestamp(first_day, tz="UTC")) / pd.Timedelta(days=1)
        if first_day
        else numbers
    )


def find_start(numbers: pd.Series) -> float:
    """What to subtract from numbers that 32 bits can't tell apart, such as Unix times; or 0."""
    exact = numbers.dropna().astype("float64")
    error = (exact - exact.astype("float32")).abs().max()
    std = exact.std()
    return float(exact.median()) if std > 0 and not error < 0.01 * std else 0


def to_texts(values: pd.Series) -> pd.Series:
    """The names of the categories of a column. A whole number has no point: 1, not 1.0."""
    if is_float_dtype(values) and (values.dropna() % 1 == 0).all():
        values = values.astype("Int64")
    return values.astype("object").map(str, na_action="ignore")
