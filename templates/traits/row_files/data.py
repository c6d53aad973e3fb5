from lib.json_lines import read_objects

#: slot load_rows
@cache
def load_rows(config) -> list[list[Row]]:
    """Rows for training, validation and test. A split without a file is a tenth of `path`."""
    paths = [config.val_path, config.test_path]
    shares = [0.0 if path else 0.1 for path in paths]
    #: region parts
    parts = split_rows(read_rows(config.path, config), [1 - sum(shares), *shares])
    #: end parts
    files = ["", *paths]
    return [
        read_rows(path, config) if path else part for path, part in zip(files, parts, strict=True)
    ]

#: slot read_rows
def read_rows(path: str, config) -> list[Row]:
    """{{ task.file_rows }} of each row of a file."""
    columns = config.{{ task.columns }}.split(",")
    found = read_objects(path) if path.endswith(".jsonl") else read_table(path)
    #: region checked
    rows = [check_row(row, columns, place) for place, row in found]
    #: end checked
    if not rows:
        raise SystemExit(f"{path} has no rows.")
    return rows
