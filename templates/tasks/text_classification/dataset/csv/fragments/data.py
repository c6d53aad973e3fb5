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
            if row.get(column) is None:
                raise SystemExit(
                    f"{place}: there is no {column!r} in {', '.join(map(str, row))}. "
                    "Set --text-columns and --label-column."
                )
            if isinstance(row[column], dict):
                raise SystemExit(f"{place}: its {column} is {row[column]!r:.60}, not text.")
    return rows


#: region read_rows
def read_rows(path: str, config) -> list[Row]:
    """The texts and the class of each row of a file."""
    columns = config.text_columns.split(",")
    return [
        (tuple(str(row[column]) for column in columns), str(row[config.label_column]))
        for _, row in read_lines(path, [*columns, config.label_column])
    ]
#: end read_rows
