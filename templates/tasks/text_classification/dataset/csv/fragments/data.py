import csv
import json
from functools import cache

#: slot texts
@cache
def load_texts(config) -> list[list[Row]]:
    """Rows for training, validation and test. A part without a file is a tenth of `path`."""
    paths = [config.val_path, config.test_path]
    shares = [0.0 if path else 0.1 for path in paths]
    parts = split_rows(read_rows(config.path, config), [1 - sum(shares), *shares])
    files = ["", *paths]
    return [
        read_rows(path, config) if path else part for path, part in zip(files, parts, strict=True)
    ]


def read_lines(path: str, columns: Sequence[str] = ()) -> list[dict]:
    """The rows of a CSV file, whose first line names the columns, or of a JSONL file."""
    kind = "JSONL" if path.endswith(".jsonl") else "CSV"
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            if kind == "JSONL":
                lines = [dict(json.loads(line)) for line in file if line.strip()]
            else:
                lines = list(csv.DictReader(file))
    except (OSError, ValueError, TypeError, csv.Error) as error:
        raise SystemExit(f"{path} can't be read as {kind}: {error}") from error
    for number, line in enumerate(lines, start=1):
        for column in columns:
            if line.get(column) is None:
                raise SystemExit(
                    f"{path}, row {number}: there is no column {column!r} in "
                    f"{', '.join(map(str, line))}. Set --text-columns and --label-column."
                )
    return lines


#: region read_rows
def read_rows(path: str, config) -> list[Row]:
    """The texts and the class of each row of a file."""
    columns = config.text_columns.split(",")
    return [
        (tuple(str(line[column]) for column in columns), str(line[config.label_column]))
        for line in read_lines(path, [*columns, config.label_column])
    ]
#: end read_rows
