#: replace read_labels
numbers = part[config.number_column]
if any(number is not None and not isinstance(number, (int, float)) for number in numbers):
    raise SystemExit(f"The column {config.number_column!r} does not hold numbers: set --number-column.")
rows = zip(texts, numbers, strict=True)
return [(row, float(number)) for row, number in rows if number is not None]
