"""The last step of rendering Python: check names, and format with black."""

import ast
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path

from scaffold import __version__
from scaffold.render.imports import LINE_LENGTH
from scaffold.render.places import Line, is_directive, read_lines
from scaffold.render.validate import check_names

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# what was made for a key before, or what is made now
Remember = Callable[[str, Callable[[], str]], str]


def finish(name: str, text: str, origins: Sequence[Line], remember: Remember) -> str:
    """The final text. Raises TemplateError for what `check_names` finds.

    `origins` gives, for each line of the text, the line of a template that it came from. The two
    steps take most of a command's time, and most files come out the same in the next command:
    `remember` may cache the result.
    """

    def make() -> str:
        tree = check_names(name, text, origins)
        return format_python(text.split("\n")[:-1], origins, tree)

    return remember(f"{__version__} {black_version()} {name}\n{text}", make)


def make_anew(key: str, make: Callable[[], str]) -> str:
    """Does not cache."""
    return make()


def format_python(lines: Sequence[str], origins: Sequence[Line], tree: ast.Module) -> str:
    """The lines of a file as black formats them; `tree` is their syntax tree.

    Top-level definitions and methods are formatted one by one: most are unchanged lines of a
    template, which need no formatting. A test checks that templates are formatted.
    """
    part, whole = _cut(lines, origins, 0, len(lines))
    if whole:
        return part.rstrip("\n") + "\n"  # a place at the end may be empty
    parts = []
    for start, end, node in _split(lines, 0, len(lines), tree.body):
        part, whole = _cut(lines, origins, start, end)
        if not whole and isinstance(node, ast.ClassDef):
            part = _format_class(lines, origins, (start, end), node)
        elif not whole:
            part = _format(part)
        parts.append(part)
    return "\n\n".join(parts)  # two blank lines around a definition, as black has it


def _format_class(
    lines: Sequence[str], origins: Sequence[Line], span: tuple[int, int], node: ast.ClassDef
) -> str:
    if isinstance(node.body[0], DEFINITIONS) or any(
        map(str.strip, lines[node.end_lineno : span[1]])
    ):
        return _format("\n".join(lines[slice(*span)]) + "\n")
    parts = []
    for number, (start, end, _) in enumerate(_split(lines, *span, node.body)):
        part, whole = _cut(lines, origins, start, end)
        if not whole and not number:  # with the head of the class
            part = _format(part)
        elif not whole:
            part = _format(f"class _:\n{part}").partition("\n")[2]
        parts.append(part)
    return "\n".join(parts)


def _cut(lines: Sequence[str], origins: Sequence[Line], start: int, end: int) -> tuple[str, bool]:
    """These lines as a text, and whether they stand in a template."""
    whole = _stands_in_a_template(lines[start:end], origins[start:end])
    return "".join(f"{line}\n" for line in lines[start:end]), whole


def _split(
    lines: Sequence[str], start: int, end: int, body: Sequence[ast.stmt]
) -> Iterator[tuple[int, int, ast.stmt | None]]:
    """The parts of some lines that hold these statements: each definition, and what is between.

    Indices of lines, without blank lines at both ends; comments belong to what follows. With them
    the definition, None for other statements.
    """
    cuts: list[tuple[int, ast.stmt | None]] = []
    for node, after in pairwise([*body, None]):
        if isinstance(node, DEFINITIONS):
            cuts.append((node.end_lineno or 0, node))
        elif node and isinstance(after, DEFINITIONS):
            cuts.append((node.end_lineno or 0, None))
    if not cuts or cuts[-1][0] < end:
        cuts.append((end, None))
    for cut, node in cuts:
        last = cut
        while start < last and not lines[start].strip():
            start += 1
        while start < last and not lines[last - 1].strip():
            last -= 1
        if start < last:
            yield start, last, node
        start = cut


def _stands_in_a_template(lines: Sequence[str], origins: Sequence[Line]) -> bool:
    """Whether these lines stand in one file of the templates, with nothing but places between.

    Not if a place ended a list of arguments: without it, they may fit on one line. Not if a line
    is too long: templates are not formatted where places and values stand between their lines.
    """
    if len(lines) != len(origins) or not lines:
        return False
    if any(line != origin.text for line, origin in zip(lines, origins, strict=True)):
        return False
    if any(len(line) > LINE_LENGTH for line in lines):
        return False
    for one, two in pairwise(origins):
        if one.path != two.path or two.number <= one.number:
            return False
        between = _lines_of(one.path)[one.number : two.number - 1]
        if any(line.text.strip() and not is_directive(line) for line in between):
            return False
        if between and two.text.lstrip().startswith((")", "]", "}")):
            return False
    return True


@lru_cache(maxsize=64)
def _lines_of(path: Path) -> list[Line]:
    return read_lines(path)


@cache
def black_version() -> str:
    """Of the black that is installed. To import it, or to read its metadata, takes long."""
    try:
        from _black_version import version  # type: ignore[import-untyped]
    except ImportError:  # a black that keeps it elsewhere
        from importlib import metadata

        return metadata.version("black")
    return str(version)


@lru_cache(maxsize=4096)
def _format(text: str) -> str:
    import black
    from black.mode import TargetVersion

    mode = black.Mode({TargetVersion.PY311}, line_length=LINE_LENGTH)
    return black.format_str(text, mode=mode)
