#: into data.py at check_row
"""Rows of files and of datasets, with named columns."""


def check_row(row: dict, columns: list[str], place: str, option: str) -> tuple[str, ...]:
    """The texts of a row. `place` and the `option` that names the columns are for messages."""
    for column in columns:
        if column not in row:
            raise SystemExit(
                f"{place}: there is no {column!r} in {', '.join(map(str, row))}. Set {option}."
            )
        if not isinstance(row[column], str) or not row[column].strip():
            raise SystemExit(f"{place}: its {column} is not text, but {row[column]!r:.60}.")
    return tuple(row[column] for column in columns)
