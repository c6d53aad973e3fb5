#: into data.py at row_readers
"""How the cells of .csv and .tsv files are written."""

import csv
import re

from lib.json_lines import open_text


def read_style(path: str) -> dict:
    """How csv reads a file. If each line of a .tsv file is a row, quotation marks are text."""
    if not re.search(r"\.tsv(\.(gz|bz2|xz|zst))?$", path):
        return {"strict": True}
    with open_text(path) as file:
        tabs = {line.count("\t") for line in file if line.strip()}
    quoting = {"quoting": csv.QUOTE_NONE} if len(tabs) == 1 else {"strict": True}
    return {"delimiter": "\t", **quoting}


def unquote(cell: str) -> str:
    """A cell without the quotation marks that the program that wrote it has put around it."""
    quoted = re.fullmatch('"((?:[^"]|"")*)"', cell)
    return quoted[1].replace('""', '"') if quoted else cell
