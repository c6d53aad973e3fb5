"""Changes of a text at the places of its syntax tree; all the rest stays as it was written."""

import ast
import re
from collections.abc import Sequence

Span = tuple[int, int]


class Edits:
    """Collects changes of a text. Where one contains another, the outer one counts."""

    def __init__(self, text: str) -> None:
        self.text, self.rows = text, text.split("\n")
        self._starts = [0]
        for row in self.rows:
            self._starts.append(self._starts[-1] + len(row) + 1)
        self._changes: dict[Span, str] = {}

    def offset(self, line: int, column: int) -> int:
        """The place of a line (from 1) and a column in bytes, as `ast` counts."""
        return self._starts[line - 1] + len(self.rows[line - 1].encode()[:column].decode())

    def span(self, node: ast.AST) -> Span:
        start = self.offset(node.lineno, node.col_offset)  # type: ignore[attr-defined]
        return start, self.offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def lines(self, nodes: Sequence[ast.stmt], *, above: bool = True) -> Span:
        """Whole lines of statements that follow each other, with their comments."""
        end = nodes[-1].end_lineno or 0
        first = min([nodes[0].lineno, *(d.lineno for d in getattr(nodes[0], "decorator_list", ()))])
        top = first
        while above and top > 1 and re.match(r"\s*(#|$)", self.rows[top - 2]):
            top -= 1
        while top < first and not self.rows[top - 1].strip():
            top += 1
        below = end
        while below < len(self.rows) and re.match(r"\s*(#|$)", self.rows[below]):
            row, below = self.rows[below], below + 1
            if row.strip() and len(row) - len(row.lstrip()) >= nodes[0].col_offset > 0:
                end = below
        return self._starts[top - 1], self._starts[end]

    def replace(self, where: ast.AST | Span, new: str) -> None:
        self._changes[where if isinstance(where, tuple) else self.span(where)] = new

    def insert(self, place: int, new: str) -> None:
        self._changes[place, place] = self._changes.get((place, place), "") + new

    def apply(self, where: ast.AST | Span | None = None) -> str:
        """The text, or a part of it, with all changes."""
        start, end = 0, len(self.text)
        if where is not None:
            start, end = where if isinstance(where, tuple) else self.span(where)
        out, place = [], start
        ordered = sorted(self._changes.items(), key=lambda row: (row[0][0], -row[0][1]))
        for (first, last), new in ordered:
            if first >= place and last <= end and not first == end != last:
                out += [self.text[place:first], new]
                place = last
        return "".join([*out, self.text[place:end]])


def margin(text: str, width: int = 0) -> str:
    """The text of a block with another margin. Lines inside of strings stay as they are."""
    rows = text.split("\n")
    code = [row for row in rows if row.strip() and not row.lstrip().startswith("#")]
    first = next(iter(code or [row for row in rows if row.strip()]), "")
    now = len(first) - len(first.lstrip())
    tree = ast.parse(f"if True:\n{text}\n{' ' * now}pass" if now else f"\n{text}")
    inside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Constant, ast.JoinedStr)):
            inside |= set(range(node.lineno, node.end_lineno or 0))
    for number, row in enumerate(rows, start=1):
        if row.strip() and number not in inside:
            cut = min(max(now - width, 0), len(row) - len(row.lstrip()))
            rows[number - 1] = " " * (width - now) + row[cut:]
    return "\n".join(rows)
