#: replace read_rows
def read_rows(path: str, config) -> list[Row]:
    """The texts of each row of a file, and the names of its labels."""
    columns, rows = config.text_columns.split(","), []
    for place, row in read_lines(path, [*columns, config.labels_column]):
        cell = row[config.labels_column]
        names = split_labels(cell)
        if names is None:
            raise SystemExit(
                f"{place}: its {config.labels_column} are {cell!r}, not names separated by "
                "commas, or a list of names."
            )
        rows.append((tuple(str(row[column]) for column in columns), names))
    return rows
