#: replace read_rows
def read_rows(path: str, config) -> list[Row]:
    """The texts of each row of a file, and its number."""
    columns, rows = config.text_columns.split(","), []
    for row, line in enumerate(read_lines(path, [*columns, config.number_column]), start=1):
        cell = line[config.number_column]
        number = parse_number(cell)
        if number is None:
            raise SystemExit(
                f"{path}, row {row}: its {config.number_column} is {cell!r}, no number."
            )
        rows.append((tuple(str(line[column]) for column in columns), number))
    return rows
