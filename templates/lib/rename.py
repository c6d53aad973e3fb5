#: into data.py at row_readers
"""Other names for the columns or keys of rows."""


def rename_keys(rows: list[tuple[str, dict]], given: str) -> list[tuple[str, dict]]:
    """Rows, each with its place, in which `question=prompt` renames question to prompt."""
    pairs = [pair.split("=") for pair in given.split(",")] if given else []
    if not all(len(pair) == 2 and all(pair) for pair in pairs):
        raise SystemExit(f"--rename {given}: write it like this: question=prompt,reply=completion.")
    names = dict(pairs)
    for old, new in names.items():
        if not any(old in row for _, row in rows):
            raise SystemExit(f"--rename {given}: no row has {old!r}.")
        if both := [place for place, row in rows if old in row and new in row and new not in names]:
            raise SystemExit(f"{both[0]}: --rename {given}: it has {new!r}, too.")
    return [(place, {names.get(name, name): row[name] for name in row}) for place, row in rows]
