#: into data.py at datasets
"""Labels and numbers in the cells of a table."""

import ast
import json

import torch


def split_labels(cell: str | list, mark: str = ",") -> tuple[str, ...] | None:
    """The names in a cell, separated by `mark` or in a list. None if one is not a name.

    A list may be written as text, in JSON or as pandas does: ['a', 'b'].
    """
    if isinstance(cell, str):
        if cell.lstrip().startswith(("[", "(", "{")):
            names = read_list(cell)
        else:
            names = cell.split(mark) if cell.strip() else []
        if names is None:
            return None
        cell = names
    if not isinstance(cell, list | tuple):
        return None
    right = all(isinstance(name, str) and name.strip() for name in cell)
    return tuple(name.strip() for name in cell) if right else None


def read_list(cell: str) -> list | None:
    """A list that is written in a cell, or None. Nothing is run."""
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        pass
    try:
        found = ast.literal_eval(cell)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    same = isinstance(found, list | tuple) and repr(found) == cell
    return list(found) if same else None  # NumPy writes no commas: ['a' 'b'] would be 'ab'


def parse_number(cell: str | float) -> float | None:
    """The number in a cell, or None if it is not a finite number of 32 bits."""
    try:
        number = float(cell)
    except (TypeError, ValueError):
        return None
    return number if abs(number) <= torch.finfo(torch.float32).max else None
