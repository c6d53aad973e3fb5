#: into data.py at row_readers
"""Tables with named columns, in .csv and .tsv files."""

import csv
import re
import zlib
from collections.abc import Iterator

from lib.json_lines import find_kind, open_text


def holds_table(path: str) -> bool:
    """Whether a file has a table, by its name. It may be compressed."""
    return find_kind(path) in ("csv", "tsv")


def read_table(path: str) -> Iterator[tuple[str, dict]]:
    """The rows of a .csv or .tsv file with a header, and where each row is."""
    csv.field_size_limit(2**31 - 1)  # texts may be longer than 128 kB
    try:
        style = read_style(path)
        with open_text(path, newline="") as file:
            rows = csv.DictReader(file, **style)
            names = [
                unquote(name) if "quoting" in style else name for name in rows.fieldnames or []
            ]
            other = [mark for mark in ";\t|" if mark in "".join(names)]
            if len(names) < 2 and other:
                raise SystemExit(
                    f"{path} has {other[0]!r} between its columns: write commas instead."
                )
            if twice := [name for name in names if name and names.count(name) > 1]:
                raise SystemExit(f"{path} has two columns {twice[0]!r}: rename or remove one.")
            for row in rows:
                if None in row or None in row.values():
                    raise SystemExit(
                        f"{path}, line {rows.line_num} has more or fewer columns than the header: "
                        f"{', '.join(names):.60}. Quote a text that has commas, and end no line "
                        "with a comma more than the header."
                    )
                if names == [cell.strip("\ufeff") for cell in row.values()] and len(row) > 1:
                    raise SystemExit(
                        f"{path}, line {rows.line_num} names the columns again: leave it out."
                    )
                if "quoting" in style:
                    row = {unquote(name): unquote(cell) for name, cell in row.items()}
                yield f"{path}, line {rows.line_num}", row
    except csv.Error as error:
        raise SystemExit(f"{path}, line {rows.reader.line_num} is not a table: {error}") from error
    except UnicodeDecodeError as error:
        raise SystemExit(f"{path} is not text in UTF-8: save it as CSV in UTF-8.") from error
    except (OSError, EOFError, zlib.error) as error:
        raise SystemExit(f"{path} can't be read: {error}") from error


def read_style(path: str) -> dict:
    """How csv reads a file. If each line of a .tsv file is a row, quotation marks are text."""
    if find_kind(path) != "tsv":
        return {"strict": True}
    with open_text(path) as file:
        tabs = {line.count("\t") for line in file if line.strip()}
    quoting = {"quoting": csv.QUOTE_NONE} if len(tabs) == 1 else {"strict": True}
    return {"delimiter": "\t", **quoting}


def unquote(cell: str) -> str:
    """A cell without the quotation marks that the program that wrote it has put around it."""
    quoted = re.fullmatch('"((?:[^"]|"")*)"', cell)
    return quoted[1].replace('""', '"') if quoted else cell
