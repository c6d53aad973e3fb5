"""Files as units that a merge can compare: statements of Python, lines of everything else.

A unit of Python is a logical line (a simple statement, the head of a block, a decorator) or a
comment on its own line. Two units are the same if their syntax trees are: line length, quotes and
indentation don't matter. Blank lines are not units: each unit knows how many are above it.
"""

import ast
import inspect
import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from scaffold.merge.source.training import without_mark

PYTHON, TOML, TEXT = "python", "toml", "text"
DOCUMENTS = (".md", ".rst")

# what makes the part of a block parse, above it and below it
_FRAMES = {
    "elif": ("if x:\n pass\n", ""),
    "else": ("if x:\n pass\n", ""),
    "except": ("try:\n pass\n", ""),
    "finally": ("try:\n pass\n", ""),
    "case": ("match x:\n ", ""),
    "@": ("", "\ndef f():"),
}
_FRAMED = re.compile(r"(elif|else|except|finally|case)\b|@")


@dataclass(frozen=True)
class Statement:
    lines: tuple[str, ...]  # with their indentation, without newlines
    key: str  # what it says, without layout and comments
    comment: str = ""  # the comments in it
    depth: int = 0  # of the blocks around it
    blanks: int = 0  # blank lines above it
    scope: str = ""  # the definitions around it: "Checkpoints.save"; of TOML, the table
    is_code: bool = True  # of Python
    origin: str = ""  # in a merge: "b", "m" or "t" for base, ours and theirs, and its number there

    @cached_property
    def text(self) -> str:
        return "\n".join(self.lines)

    @cached_property
    def is_comment(self) -> bool:
        return self.key.startswith("#")

    @property
    def is_decorator(self) -> bool:
        return self.is_code and self.key.startswith("@")

    @property
    def is_head(self) -> bool:
        """Whether it opens a block."""
        return self.text.rstrip().removesuffix(self.comment or "\n").rstrip().endswith(":")

    @cached_property
    def node(self) -> ast.stmt | None:
        """The syntax tree of a statement of Python."""
        found = None if self.is_comment or not self.is_code else parse_unit(self.text.strip())
        return found and found[0]

    @cached_property
    def defined(self) -> str:
        """The qualified name of the function or class that begins with it: "Checkpoints.save"."""
        node = None if self.is_decorator else self.node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return f"{self.scope}.{node.name}".strip(".")
        return ""

    @cached_property
    def continues(self) -> bool:
        """Whether it continues the statement above it, as `else` does."""
        found = parse_unit(self.text.strip()) if self.is_code else None
        return bool(found and found[1].word in ("else", "elif", "except", "finally"))

    @property
    def margin(self) -> str:
        return self.lines[0][: len(self.lines[0]) - len(self.lines[0].lstrip())]

    def saying(self, text: str) -> "Statement":
        """The unit with another text, from its first character on."""
        lines = tuple((self.margin + text).split("\n"))
        return replace(self, lines=lines, key=fingerprint(text.strip()))

    @property
    def same(self) -> tuple[str, str]:
        return self.key, self.comment

    @property
    def flat(self) -> tuple[str, ...]:
        """The lines without the indentation of the first."""
        return shift(self.lines, -indent_of(self.lines[0]))

    def at(self, depth: int, indent: str) -> "Statement":
        """The unit inside `depth` blocks."""
        first = self.lines[0]
        width = len(indent.expandtabs(8)) * depth - indent_of(first)
        if "\t" not in indent:
            return replace(self, depth=depth, lines=shift(self.lines, width))
        inside = _string_rows("\n".join(self.lines)) if len(self.lines) > 1 else frozenset()
        lines = tuple(
            row if number in inside else indent * depth + row
            for number, row in enumerate(self.flat)
        )
        return replace(self, depth=depth, lines=lines)


Statements = Sequence[Statement]
Rendered = tuple[list[Statement], list[Statement]]  # the two generated versions: base, theirs


def indent_of(line: str) -> int:
    text = line.expandtabs(8)
    return len(text) - len(text.lstrip(" "))


def shift(lines: tuple[str, ...], width: int) -> tuple[str, ...]:
    """The lines of one unit moved sideways, except those inside a string."""
    if not width:
        return lines
    inside = _string_rows("\n".join(lines)) if len(lines) > 1 else set()
    out = []
    for number, line in enumerate(lines):
        if not line.strip() or number in inside:
            out.append(line)
        else:
            out.append(" " * max(0, indent_of(line) + width) + line.lstrip(" \t"))
    return tuple(out)


@lru_cache(maxsize=4096)
def _string_rows(text: str) -> frozenset[int]:
    """Rows, from 0, that begin inside a string that is not a docstring."""
    tokens = tokens_of(inspect.cleandoc(text))
    code = [token for token in tokens if token.type not in _LAYOUT and token.string]
    if len(code) == 1 and code[0].type == tokenize.STRING:
        return frozenset()
    return frozenset(
        row for _, (start, _), (end, _) in strings(tokens) for row in range(start, end)
    )


def tokens_of(text: str) -> list[tokenize.TokenInfo]:
    try:
        return list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return []


def strings(
    tokens: Sequence[tokenize.TokenInfo],
) -> Iterator[tuple[str, tuple[int, int], tuple[int, int]]]:
    """Each string, or how it begins, and its span; an f-string as one, from Python 3.12 on, too."""
    start, opening, level = (0, 0), "", 0
    for token in tokens:
        name = tokenize.tok_name[token.type]
        if name == "FSTRING_START":
            level += 1
            if level == 1:
                start, opening = token.start, token.string
        elif name == "FSTRING_END":
            level -= 1
            if level == 0:
                yield opening, start, token.end
        elif name == "STRING" and not level:
            yield token.string, token.start, token.end


_LAYOUT = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


def split(text: str, kind: str) -> list[Statement]:
    """The units of a file. Invalid Python is split into lines."""
    return list(_split(text, kind))


@lru_cache(maxsize=256)
def _split(text: str, kind: str) -> list[Statement]:
    if kind == PYTHON:
        try:
            return _split_python(text)
        except (tokenize.TokenError, SyntaxError, IndexError):
            pass
    return split_lines(text, kind)


def split_lines(text: str, kind: str = TEXT) -> list[Statement]:
    units = []
    blanks = 0
    table = ""
    for row in text.split("\n"):
        if row.strip():
            if kind == TOML and row.startswith("["):
                table = row.strip()
            key = without_mark(row.rstrip())
            units.append(Statement((row,), key, blanks=blanks, scope=table, is_code=False))
            blanks = 0
        else:
            blanks += 1
    return units


_DEFINITION = re.compile(r"(?:async\s+)?(?:def|class)\s+(\w+)")


def _split_python(text: str) -> list[Statement]:
    rows = text.split("\n")
    spans: list[tuple[int, int, int, list[str]]] = []  # first and last row, depth, comments
    depth = 0
    start = 0
    comments: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.INDENT:
            depth += 1
        elif token.type == tokenize.DEDENT:
            depth -= 1
        elif token.type == tokenize.COMMENT:
            if start:
                comments.append(token.string.rstrip())
            else:
                spans.append((token.start[0], token.start[0], -1, []))
        elif token.type == tokenize.NEWLINE:
            spans.append((start, token.start[0], depth, comments))
            start, comments = 0, []
        elif token.type not in (tokenize.NL, tokenize.ENDMARKER) and not start:
            start = token.start[0]
    units: list[Statement] = []
    stack: list[tuple[int, str]] = []  # the definitions around a unit, with their depths
    end = 0
    pending = _comment_depths(spans, rows)
    for (first, last, _, inner), level in zip(spans, pending, strict=True):
        lines = tuple(rows[first - 1 : last])
        blanks = sum(not row.strip() for row in rows[end : first - 1])
        if lines[0].lstrip().startswith("#"):
            key, comment = lines[0].strip(), ""
        else:
            key, comment = fingerprint("\n".join(lines).strip()), " ".join(inner)
            while stack and stack[-1][0] >= level:
                stack.pop()
        scope = ".".join(name for depth, name in stack if depth < level)
        units.append(Statement(lines, key, comment, level, blanks, scope))
        if found := _DEFINITION.match(lines[0].lstrip()):
            stack.append((level, found[1]))
        end = last
    return units


def _comment_depths(spans: list[tuple[int, int, int, list[str]]], rows: list[str]) -> list[int]:
    """The depth of each unit: a comment belongs to the block with its indentation."""
    columns: dict[int, int] = {0: 0}  # of the open blocks, by depth
    depths = []
    for number, (first, _, depth, _) in enumerate(spans):
        column = indent_of(rows[first - 1])
        if depth >= 0:
            columns = {level: col for level, col in columns.items() if level < depth}
            columns[depth] = column
            depths.append(depth)
            continue
        below = (spans[row] for row in range(number + 1, len(spans)))
        after = next((span for span in below if span[2] >= 0), None)
        if after and indent_of(rows[after[0] - 1]) == column:
            depths.append(after[2])
        else:
            depths.append(max((lv for lv, col in columns.items() if col <= column), default=0))
    return depths


def block_of(units: Sequence[Statement], head: int) -> range:
    """The units in the block that a unit opens."""
    end = head + 1
    while end < len(units) and units[end].depth > units[head].depth:
        end += 1
    return range(head + 1, end)


def start_of(units: Statements, place: int) -> int | None:
    """The statement that `else` and the like continue."""
    depth = units[place].depth
    above = (row for row in range(place - 1, -1, -1) if units[row].depth <= depth)
    return next((row for row in above if not units[row].continues), None)


def write_units(units: Statements) -> str:
    rows: list[str] = []
    for unit in units:
        rows += [""] * unit.blanks + list(unit.lines)
    return "".join(f"{row}\n" for row in rows)


@lru_cache(maxsize=262_144)
def fingerprint(text: str) -> str:
    """What a statement says, independent of its layout: its syntax tree, or else its words."""
    parsed = parse_unit(text)
    if parsed is None:
        return " ".join(text.split())
    node, frame = parsed
    match node:
        case ast.Expr(ast.Constant(str() as words)):
            return f"text {inspect.cleandoc(words)!r}"
        case ast.Expr(
            ast.Call(ast.Attribute(ast.Name(name), "update"), [ast.Call() as found], keywords=[])
        ):  # `metrics.update(found)` as `metrics |= found`
            node = ast.AugAssign(ast.Name(name, ast.Store()), ast.BitOr(), found)
    return f"{frame.word} {ast.dump(node)}"


@dataclass(frozen=True)
class Frame:
    """What was put around a unit so that it parses."""

    word: str
    rows: int  # above it
    column: int  # added in front of it


@lru_cache(maxsize=262_144)
def parse_unit(text: str) -> tuple[ast.stmt, Frame] | None:
    """The tree of a unit's text without indentation, and the position of the text in it."""
    if match := _FRAMED.match(text):
        above, below = _FRAMES[match[0]]
        source = f"{above}{text}{below}\n  pass"
        column = len(above) - above.rfind("\n") - 1
        return _parse(source, Frame(match[0], above.count("\n"), column))
    found = _parse(text, Frame("", 0, 0))
    last = text.rpartition("\n")[2]
    if found is None and re.sub(r"\s#.*$", "", last).rstrip().endswith(":"):
        found = _parse(f"{text}\n pass", Frame("", 0, 0))
    return found


def parse_units(units: Statements) -> ast.Module | None:
    """The syntax tree of neighbouring statements, also if a head without its block is the last."""
    level = min(unit.depth for unit in units)
    text = "\n".join(unit.at(unit.depth - level, "    ").text for unit in units)
    after = "    " * (units[-1].depth - level + 1) + "pass"
    for source in (text, f"{text}\n{after}"):
        try:
            return ast.parse(source)
        except SyntaxError:
            continue
    return None


def _parse(source: str, frame: Frame) -> tuple[ast.stmt, Frame] | None:
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError):
        return None
    return (body[0], frame) if len(body) == 1 else None
