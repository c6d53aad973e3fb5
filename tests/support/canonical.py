"""What a file says: not how it is laid out, nor in which order it imports."""

import io
import tokenize
from collections.abc import Iterator, Sequence
from functools import cache

import black


@cache
def blackened(text: str, line_length: int = 100, magic_trailing_comma: bool = True) -> str:
    mode = black.Mode(line_length=line_length, magic_trailing_comma=magic_trailing_comma)
    return black.format_str(text, mode=mode)


@cache
def canonical(path: str, text: str) -> object:
    """Two files are the same if these are equal."""
    text = text.replace("\r\n", "\n")
    if path.endswith(".py"):
        try:
            return list(_statements(text))
        except (SyntaxError, tokenize.TokenError, black.InvalidInput):
            pass
    return [line.rstrip() for line in text.rstrip().splitlines()]


def _statements(text: str) -> Iterator[object]:
    """The lines of code and comments, as tokens; imports at the top level are sorted."""
    imports: set[tuple[str, ...]] = set()
    depth, line, seen = 0, [], []
    laid_out = blackened(text, magic_trailing_comma=False)
    for token in tokenize.generate_tokens(io.StringIO(laid_out).readline):
        if token.type == tokenize.INDENT:
            depth += 1
        elif token.type == tokenize.DEDENT:
            depth -= 1
        elif token.type == tokenize.STRING and not line:
            # a docstring, of which black moves the lines with the indentation
            line.append(" ".join(token.string.split()))
        elif token.type in (tokenize.NEWLINE, tokenize.ENDMARKER):
            if line and depth == 0 and line[0] in ("import", "from"):
                imports |= set(_imported(line))
            elif line:
                seen.append((depth, tuple(line)))
            line = []
        elif token.type == tokenize.COMMENT:
            line.append(token.string)
            # a comment on a line of its own belongs to no statement, but to a depth
            if token.line.strip() == token.string and len(line) == 1:
                seen.append((len(token.line) - len(token.line.lstrip()), tuple(line)))
                line = []
        elif token.type != tokenize.NL:
            line.append(token.string)
    yield sorted(imports)
    yield from seen


def _imported(line: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """An import of several names as several imports."""
    if line[0] == "import":
        head, names = ("import",), " ".join(line[1:])
    else:
        place = line.index("import")
        head, names = tuple(line[: place + 1]), " ".join(line[place + 1 :])
    comments = names.partition("#")
    for name in comments[0].strip("() ").split(","):
        if name.strip():
            yield (*head, name.strip(), comments[2])
