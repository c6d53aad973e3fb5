#: slot check_row
def check_row(row: dict, columns: list[str], place: str) -> {{ task.cells }}:
    """The texts of a row. `place` is for error messages."""
    for column in columns:
        if column not in row:
            raise SystemExit(
                f"{place}: there is no {column!r} in {', '.join(map(str, row))}. "
                "Set --{{ task.columns.replace('_', '-') }}."
            )
        if not isinstance(row[column], str) or not row[column].strip():
            raise SystemExit(f"{place}: its {column} is not text, but {row[column]!r:.60}.")
    return tuple(row[column] for column in columns)
