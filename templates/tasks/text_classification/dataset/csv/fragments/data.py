from functools import cache

#: slot texts
@cache
def load_texts(config) -> list[list[Row]]:
    """Rows for training, validation and test. A split without a file is a tenth of `path`."""
    paths = [config.val_path, config.test_path]
    shares = [0.0 if path else 0.1 for path in paths]
    parts = split_rows(read_rows(config.path, config), [1 - sum(shares), *shares])
    files = ["", *paths]
    return [
        read_rows(path, config) if path else part for path, part in zip(files, parts, strict=True)
    ]


def read_lines(path: str, columns: list[str]) -> list[tuple[str, dict]]:
    """The rows of a .csv, .tsv or .jsonl file, with these columns, and where each row is."""
    rows = list(read_objects(path) if path.endswith(".jsonl") else read_table(path))
    if not rows:
        raise SystemExit(f"{path} has no rows.")
    for place, row in rows:
        for column in columns:
            if column not in row:
                raise SystemExit(
                    f"{place}: there is no {column!r} in {', '.join(map(str, row))}. "
                    "Set --text-columns and --{{ task.column }}."
                )
            if row[column] is None or isinstance(row[column], dict):
                raise SystemExit(f"{place}: its {column} is {row[column]!r:.60}, not text.")
    return rows


def read_texts(row: dict, place: str, config) -> tuple[str, ...]:
    """The text of a row, or a pair. A number is a text, too."""
    columns = config.text_columns.split(",")
    for column in columns:
        if isinstance(row[column], list):
            raise SystemExit(f"{place}: its {column} is {row[column]!r:.60}, not text.")
    return tuple(str(row[column]) for column in columns)


#: region read_rows
def read_rows(path: str, config) -> list[Row]:
    """The texts and the class of each row of a file."""
    rows = []
    for place, row in read_lines(path, [*config.text_columns.split(","), config.label_column]):
        name = row[config.label_column]
        if isinstance(name, list) or not str(name).strip():
            raise SystemExit(f"{place}: its {config.label_column} is {name!r:.60}, not a class.")
        rows.append((read_texts(row, place, config), str(name)))
    return rows
#: end read_rows
