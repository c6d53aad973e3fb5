#: slot datasets when labels=number dataset=csv
def parse_number(cell: object) -> float | None:
    """The number in a cell, or None if it is not a finite number of 32 bits."""
    try:
        number = float(cell)
    except (TypeError, ValueError):
        return None
    return number if abs(number) <= torch.finfo(torch.float32).max else None
