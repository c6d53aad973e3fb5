import csv
from functools import cache

#: slot texts
@cache
def load_texts(config) -> list[list[Row]]:
    """The rows of a CSV file in three parts. Its first line names the columns."""
    try:
        with open(config.path, encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
    except (OSError, ValueError, csv.Error) as error:
        raise SystemExit(f"{config.path} can't be read as CSV: {error}") from error
    text_columns = config.text_columns.split(",")
    rows = []
    for number, line in enumerate(lines, start=1):
        for column in [*text_columns, config.label_column]:
            if line.get(column) is None:
                raise SystemExit(
                    f"{config.path}, row {number}: there is no column {column!r} in "
                    f"{', '.join(map(str, line))}. Set --text-columns and --label-column."
                )
        rows.append((tuple(line[column] for column in text_columns), line[config.label_column]))
    return split_rows(rows, [0.8, 0.1, 0.1])
