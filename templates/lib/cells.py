#: into data.py at datasets
"""Labels and numbers in the cells of a table."""

import torch


def split_labels(cell: str | list[str]) -> tuple[str, ...] | None:
    """The names in a cell, separated by commas or in a list. None if one is not a name."""
    if isinstance(cell, str):
        cell = cell.split(",") if cell.strip() else []
    if not isinstance(cell, list) or not all(isinstance(x, str) and x.strip() for x in cell):
        return None
    return tuple(name.strip() for name in cell)


def parse_number(cell: str | float) -> float | None:
    """The number in a cell, or None if it is not a finite number of 32 bits."""
    try:
        number = float(cell)
    except (TypeError, ValueError):
        return None
    return number if abs(number) <= torch.finfo(torch.float32).max else None
