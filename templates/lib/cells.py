#: into data.py at datasets
"""CSV files, whose first line names the columns, and what stands in their cells."""

import ast
import csv
import json

import torch


def split_labels(cell: str | list, mark: str = ",") -> tuple[str, ...] | None:
    """The names in a cell, separated by `mark` or in a list. None if one is not a name.

    A list may be written as text, in JSON or as pandas does: ['a', 'b'].
    """
    if isinstance(cell, str):
        if cell.lstrip().startswith(("[", "(", "{")):
            names = read_list(cell)
        else:
            names = cell.split(mark) if cell.strip() else []
        if names is None:
            return None
        cell = names
    if not isinstance(cell, list | tuple):
        return None
    right = all(isinstance(name, str) and name.strip() for name in cell)
    return tuple(name.strip() for name in cell) if right else None


def read_list(cell: str) -> list | None:
    """A list that is written in a cell, or None. Nothing is run."""
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        pass
    try:
        found = ast.literal_eval(cell)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    same = isinstance(found, list | tuple) and repr(found) == cell
    return list(found) if same else None  # NumPy writes no commas: ['a' 'b'] would be 'ab'


def parse_number(cell: str | float) -> float | None:
    """The number in a cell, or None if it is not a finite number of 32 bits."""
    if isinstance(cell, bool) or "_" in f"{cell}" or not f"{cell}".isascii():
        return None  # Python reads 1_000, and the digits of all scripts
    try:
        number = float(cell)
    except (TypeError, ValueError):
        return None
    return number if abs(number) <= torch.finfo(torch.float32).max else None


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


def check_names(names: list[str], path: str) -> list[str]:
    """The names of the columns. One without a name gets its number, as in pandas."""
    if len(names) < 2 and (other := [mark for mark in ";\t|" if mark in "".join(names)]):
        raise SystemExit(f"{path} has {other[0]!r} between its columns: write commas instead.")
    names = [name.strip() or f"Unnamed: {number}" for number, name in enumerate(names)]
    if twice := [name for name in names if names.count(name) > 1]:
        raise SystemExit(f"{path} has two columns {twice[0]!r}: rename one of them.")
    return names
