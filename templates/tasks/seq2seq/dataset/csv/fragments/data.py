import csv
from pathlib import Path

#: slot read_pairs
def read_pairs(config) -> list[tuple[str, str]]:
    """The rows of a file: a source and its target in each."""
    delimiter = "\t" if config.path.endswith(".tsv") else ","
    try:
        text = Path(config.path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SystemExit(f"--path {config.path} can't be read: {error}") from error
    rows = list(csv.reader(text.splitlines(keepends=True), delimiter=delimiter))
    for number, row in enumerate(rows, start=1):
        if len(row) != 2:
            raise SystemExit(
                f"{config.path}: row {number} has {len(row)} columns. It needs two, a source and "
                "its target. Quote a text that has commas, or use a .tsv file with tabs."
            )
    if len(rows) < 10:
        raise SystemExit(f"{config.path} has {len(rows)} rows: a split needs at least 10.")
    return [(source, target) for source, target in rows]
