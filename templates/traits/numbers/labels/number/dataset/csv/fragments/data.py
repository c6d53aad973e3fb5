from math import isfinite

#: slot datasets
def parse_number(cell: object) -> float | None:
    """The number in a cell, or None if it is not a finite number."""
    try:
        number = float(cell)
    except (TypeError, ValueError):
        return None
    return number if isfinite(number) else None
