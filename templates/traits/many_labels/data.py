#: slot datasets when dataset=csv
def split_labels(cell: str | list[str]) -> tuple[str, ...] | None:
    """The names in a cell, separated by commas or in a list. None if one is not a name."""
    if isinstance(cell, str):
        cell = cell.split(",") if cell.strip() else []
    if not isinstance(cell, list) or not all(isinstance(x, str) and x.strip() for x in cell):
        return None
    return tuple(name.strip() for name in cell)
