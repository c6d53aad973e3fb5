"""Changes of a text at the places of its syntax tree; all the rest stays as it was written."""

import ast
import re
from collections.abc import Sequence

Span = tuple[int, int]


class Edits:
    """Collects changes of a text. Where one contains another, the outer one counts."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.rows = text.split("\n")
        self._starts = [0]
        for row in self.rows:
            self._starts.append(self._starts[-1] + len(row) + 1)
        self._changes: dict[Span, str] = {}

    def offset(self, line: int, column: int) -> int:
        """The place of a line (from 1) and a column in bytes, as `ast` counts."""
        row = self.rows[line - 1]
        if not row.isascii():
            column = len(row.encode()[:column].decode())
        return self._starts[line - 1] + column

    def span(self, node: ast.AST) -> Span:
        start = self.offset(node.lineno, node.col_offset)  # type: ignore[attr-defined]
        return start, self.offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def lines(self, nodes: Sequence[ast.stmt], after: int | None = None) -> Span:
        """Whole lines of statements that follow each other, with the comments above the first.

        `after` is the line that these comments can't reach: the last line of what stands before.
        """
        first = min([nodes[0].lineno, *(d.lineno for d in getattr(nodes[0], "decorator_list", ()))])
        top = first
        while top > (after or 0) + 1 and re.match(r"\s*(#|$)", self.rows[top - 2]):
            top -= 1
        while top < first and not self.rows[top - 1].strip():
            top += 1
        end = nodes[-1].end_lineno or first
        indent = nodes[0].col_offset
        below = end
        while below < len(self.rows) and re.match(r"\s*(#|$)", self.rows[below]):
            below += 1
            row = self.rows[below - 1]
            if row.strip() and len(row) - len(row.lstrip()) >= indent > 0:
                end = below
        return self._starts[top - 1], self._starts[end]

    def replace(self, where: ast.AST | Span, new: str) -> None:
        span = where if isinstance(where, tuple) else self.span(where)
        self._changes[span] = new

    def insert(self, place: int, new: str) -> None:
        self._changes[place, place] = self._changes.get((place, place), "") + new

    def add_argument(self, call: ast.Call, text: str) -> None:
        """Add one more argument, behind those of the call and those that were added before."""
        given = [*call.args, *call.keywords]
        if given:
            self.insert(max(self.span(node)[1] for node in given), f", {text}")
        else:
            place = self.span(call)[1] - 1
            self.insert(place, f", {text}" if (place, place) in self._changes else text)

    def apply(self, span: Span | None = None) -> str:
        """The text, or a part of it, with all changes."""
        start, end = span or (0, len(self.text))
        out, place = [], start
        for (first, last), new in sorted(
            self._changes.items(), key=lambda row: (row[0][0], -row[0][1])
        ):
            if first < place or last > end or (first == end != last):
                continue
            out += [self.text[place:first], new]
            place = last
        return "".join([*out, self.text[place:end]])


def protected(text: str) -> set[int]:
    """The lines (from 0) that begin inside of a string: these can't be indented."""
    found: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Constant, ast.JoinedStr)):
            found |= set(range(node.lineno, node.end_lineno or 0))
    return found


def dedent(text: str) -> str:
    """The text of a block at the left margin."""
    rows = text.split("\n")
    first = next((row for row in rows if row.strip() and not row.lstrip().startswith("#")), "")
    first = first or next((row for row in rows if row.strip()), "")
    width = len(first) - len(first.lstrip())
    if not width:
        return text
    inside = protected("if True:\n" + _at_least(rows, width))
    return "\n".join(
        row if number + 1 in inside else row[min(width, len(row) - len(row.lstrip())) :]
        for number, row in enumerate(rows)
    )


def _at_least(rows: list[str], width: int) -> str:
    return "\n".join([*rows, f"{' ' * width}pass"])


def indent(text: str, width: int) -> str:
    """The text of a block, further to the right."""
    inside = protected(text)
    return "\n".join(
        " " * width + row if row.strip() and number not in inside else row
        for number, row in enumerate(text.split("\n"))
    )
