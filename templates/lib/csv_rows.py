#: into data.py at datasets
"""CSV files: the first line names the columns."""

import csv


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
                        f"{len(names)} columns. Quote a cell that has commas, and end no row with "
                        "a comma more than the first line."
                    )
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
