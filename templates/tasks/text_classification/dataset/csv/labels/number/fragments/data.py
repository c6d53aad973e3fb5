#: replace read_rows
def read_rows(path: str, config) -> list[Row]:
    """The texts of each row of a file, and its number."""
    columns, rows = config.text_columns.split(","), []
    for place, row in read_lines(path, [*columns, config.number_column]):
        cell = row[config.number_column]
        number = parse_number(cell)
        if number is None:
            raise SystemExit(f"{place}: its {config.number_column} is {cell!r}, not a number.")
        rows.append((tuple(str(row[column]) for column in columns), number))
    return rows
