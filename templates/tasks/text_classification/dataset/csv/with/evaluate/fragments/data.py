#: slot texts
def list_rows(path: str) -> list[dict]:
    """All columns of the rows of a file."""
    return [row for _, row in read_lines(path, [])]
