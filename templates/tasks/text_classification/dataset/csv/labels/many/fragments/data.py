#: replace read_rows
def read_rows(path: str, config) -> list[Row]:
    """The texts of each row of a file, and the names of its labels."""
    rows = []
    for place, row in read_lines(path, [*config.text_columns.split(","), config.labels_column]):
        cell = row[config.labels_column]
        names = split_labels(cell)
        if names is None:
            raise SystemExit(
                f"{place}: its {config.labels_column} are {cell!r}, not names separated by "
                "commas, or a list of names."
            )
        rows.append((read_texts(row, place, config), names))
    return rows
