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
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TypeGuard

from scaffold.merge.source.training import without_mark

PYTHON, TOML, TEXT = "python", "toml", "text"

# what makes the head of a block parse, and what makes it stand alone
_FRAMES = (
    (re.compile(r"(elif)\b"), "if x:\n pass\n", ""),
    (re.compile(r"(else)\b"), "if x:\n pass\n", ""),
    (re.compile(r"(except)\b"), "try:\n pass\n", ""),
    (re.compile(r"(finally)\b"), "try:\n pass\n", ""),
    (re.compile(r"(case)\b"), "match x:\n ", ""),
    (re.compile(r"(@)"), "", "\ndef f():"),
)


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

    @property
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
        return found and found[1]

    @cached_property
    def continues(self) -> bool:
        """Whether it continues the statement above it, as `else` does."""
        found = parse_unit(self.text.strip()) if self.is_code else None
        return bool(found and found[0] in ("else", "elif", "except", "finally"))

    @property
    def margin(self) -> str:
        """Its indentation."""
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
        flat = self.flat
        return replace(self, depth=depth, lines=tuple(indent * depth + row for row in flat))


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
    rows: set[int] = set()
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(inspect.cleandoc(text)).readline))
    except (tokenize.TokenError, SyntaxError):
        return frozenset()
    code = [token for token in tokens if token.type not in _LAYOUT and token.string]
    if len(code) == 1 and code[0].type == tokenize.STRING:
        return frozenset()
    start = 0
    for token in tokens:
        name = tokenize.tok_name[token.type]
        if name == "FSTRING_START":
            start = token.start[0]
        elif name == "FSTRING_END":
            rows |= set(range(start, token.end[0]))
        elif name == "STRING":
            rows |= set(range(token.start[0], token.end[0]))
    return frozenset(rows)


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


@lru_cache(maxsize=262_144)
def fingerprint(text: str) -> str:
    """What a statement says, independent of its layout: its syntax tree, or else its words."""
    tree = parse_unit(text)
    if tree is None:
        return " ".join(text.split())
    word, node = tree
    value = node.value.value if isinstance(node, ast.Expr) and is_constant(node.value) else None
    if isinstance(value, str):
        return f"text {inspect.cleandoc(value)!r}"
    return f"{word} {ast.dump(_in_one_form(node))}"


def _in_one_form(node: ast.stmt) -> ast.stmt:
    """`metrics.update(found)` as `metrics |= found`."""
    match node:
        case ast.Expr(
            ast.Call(ast.Attribute(ast.Name(name), "update"), [ast.Call() as found], keywords=[])
        ):
            return ast.AugAssign(ast.Name(name, ast.Store()), ast.BitOr(), found)
    return node


def is_constant(node: ast.AST) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant)


@dataclass(frozen=True)
class Frame:
    """What was put around a unit so that it parses."""

    word: str
    rows: int  # above it
    column: int  # added in front of it


def parse_unit(text: str) -> tuple[str, ast.stmt] | None:
    """The statement of a unit, with the keyword of the block it continues, if any."""
    found = parse_framed(text)
    return found and (found[1].word, found[0])


@lru_cache(maxsize=262_144)
def parse_framed(text: str) -> tuple[ast.stmt, Frame] | None:
    """The tree of a unit's text without indentation, and the position of the text in it."""
    for pattern, above, below in _FRAMES:
        match = pattern.match(text)
        if match:
            source = f"{above}{text}{below}\n  pass"
            column = len(above) - above.rfind("\n") - 1
            return _parse(source, Frame(match[1], above.count("\n"), column))
    tree = _parse(text, Frame("", 0, 0))
    if tree is None and _without_comment(text).endswith(":"):
        tree = _parse(f"{text}\n pass", Frame("", 0, 0))
    return tree


def _without_comment(text: str) -> str:
    last = text.rpartition("\n")[2]
    return re.sub(r"\s#.*$", "", last).rstrip()


def _parse(source: str, frame: Frame) -> tuple[ast.stmt, Frame] | None:
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError):
        return None
    return (body[0], frame) if len(body) == 1 else None
