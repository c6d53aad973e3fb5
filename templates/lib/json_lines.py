#: into data.py at row_readers
"""Files with a JSON object in each line."""

import json
from collections.abc import Iterator


def read_objects(path: str) -> Iterator[tuple[str, dict]]:
    """The JSON objects of a file, one in each line, and where each one is."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    place = f"{path}, line {number}"
                    try:
                        row = json.loads(line)
                        json.dumps(row, ensure_ascii=False).encode()  # rejects lone surrogates
                    except ValueError as error:
                        raise SystemExit(f"{place} is not JSON: {error}") from error
                    if not isinstance(row, dict):
                        raise SystemExit(f"{place} is not a JSON object.")
                    yield place, row
    except (OSError, UnicodeDecodeError) as error:
        raise SystemExit(f"{path} can't be read: {error}") from error
