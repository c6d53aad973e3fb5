"""Notebooks: their cells, their code, and their JSON in the layout of a file."""

import json
import re
from typing import Any

NOTEBOOK = ".ipynb"
# commands of IPython that have several lines
MAGIC = re.compile(r"\A\s*%%(?!time|capture)[\s\S]*|^[ \t]*[%!](?:.*\\\n)+.*", re.M)

Cell = dict[str, Any]


def read_notebook(text: str) -> dict[str, Any] | None:
    """The notebook of a text. None for another one, and for one that is damaged."""
    try:
        book: dict[str, Any] = json.loads(text.removeprefix("\ufeff"))
        for cell in book["cells"]:
            cell["cell_type"], id_of(cell), source_of(cell)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return book


def id_of(cell: Cell) -> str:
    """Its id, also where Colab keeps it."""
    return str(cell.get("id") or cell.get("metadata", {}).get("id"))


def source_of(cell: Cell) -> str:
    return "".join(cell["source"])


def with_source(cell: Cell, text: str) -> Cell:
    """The cell with another source: a string, or a list of lines, as it was."""
    is_text = isinstance(cell["source"], str)
    return {**cell, "source": text if is_text else text.splitlines(keepends=True)}


def write_notebook(book: dict[str, Any], like: str) -> str:
    """The text of a notebook, indented as another text."""
    indent = re.match(r"\{\n([ \t]*)", like)
    return json.dumps(book, indent=indent and indent[1], ensure_ascii=like.isascii()) + "\n"


def notebook_code(text: str) -> str:
    """The code of a notebook's cells, each below a line `# cell N`. Nothing if it is damaged."""
    book = read_notebook(text) or {"cells": []}
    code = ""
    for number, cell in enumerate(book["cells"], start=1):
        if cell["cell_type"] != "code":
            continue
        plain = MAGIC.sub(lambda found: "#" + "\n" * found[0].count("\n"), source_of(cell))
        code += f"# cell {number}\n{plain.rstrip()}\n"
    return re.sub(r"(?m)^([ \t]*)[%!?].*$", r"\1pass", code)  # commands of IPython


def cell_of(code: str, line: int) -> str:
    """The cell that a line of `notebook_code` is in."""
    heads = re.findall(r"(?m)^# cell (\d+)$", "\n".join(code.split("\n")[:line]))
    return f"cell {heads[-1]}" if heads else str(line)
