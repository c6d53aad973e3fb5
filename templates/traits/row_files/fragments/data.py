import csv
import json
from collections.abc import Iterator
from typing import TextIO

#: slot load_rows
@cache
def load_rows(config) -> list[list[Row]]:
    """Rows for training, validation and test. A part without a file is a tenth of `path`."""
    paths = [config.val_path, config.test_path]
    shares = [0.0 if path else 0.1 for path in paths]
    parts = split_rows(read_rows(config.path, config), [1 - sum(shares), *shares])
    files = ["", *paths]
    return [
        read_rows(path, config) if path else part for path, part in zip(files, parts, strict=True)
    ]


#: slot read_rows
def read_rows(path: str, config) -> list[Row]:
    """{{ task.file_rows }} of each row of a file."""
    columns = config.{{ task.columns }}.split(",")
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            found = read_objects(file) if path.endswith(".jsonl") else read_table(file)
            #: region checked
            rows = [check_row(row, columns, f"{path}, line {number}") for number, row in found]
            #: end checked
    except (OSError, UnicodeDecodeError) as error:
        raise SystemExit(f"{path} can't be read: {error}") from error
    if not rows:
        raise SystemExit(f"{path} has no rows.")
    return rows


def read_objects(file: TextIO) -> Iterator[tuple[int, object]]:
    """The lines of a .jsonl file, with their numbers."""
    for number, line in enumerate(file, start=1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except ValueError as error:
                raise SystemExit(f"{file.name}, line {number} is not JSON: {error}") from error


def read_table(file: TextIO) -> Iterator[tuple[int, dict]]:
    """The rows of a .csv or .tsv file, whose first line names the columns, with line numbers."""
    separator = "\t" if file.name.endswith(".tsv") else ","
    rows = csv.DictReader(file, delimiter=separator, strict=True)
    try:
        for row in rows:
            if None in row:
                raise SystemExit(
                    f"{file.name}, line {rows.line_num} has more columns than the first line "
                    "names. Quote a text that has commas, or use a .tsv file with tabs."
                )
            yield rows.line_num, row
    except csv.Error as error:
        place = f"{file.name}, line {rows.reader.line_num}"
        raise SystemExit(f"{place} is not a table: {error}") from error
