"""Places in templates, and the code that features put there.

A base template is valid Python with places named in comments:

    #: slot NAME                    features may insert lines here; `...  #: slot NAME` where
                                    Python needs a statement
    #: region NAME [CONDITION]      ... #: end NAME: features may wrap or replace these lines,
                                    which go if the condition does not hold
    #: region NAME if SLOT is filled    the same, but they go if nothing fills that slot

What is put there stands below the imports that it needs:

    #: slot NAME [CONDITION]        lines for a slot
    #: replace REGION [CONDITION]   lines instead of a region; `...  #: keep INNER` stands for a
                                    region inside it
    #: wrap REGION [CONDITION]      a `with` or `try` around a region, which is `...  #: body`

`conditions.py` says what a condition is. Every line remembers the file and number that it came
from, and the condition that brought it.
"""

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

from scaffold.errors import TemplateError

# a text, a comment, or a name; the code inside an f-string is read as part of it
_TOKENS = re.compile(
    r"""(?P<f>\b[rR]?[fF][rR]?)?(?P<text>\"{3}.*?\"{3}|'{3}.*?'{3}"""
    r"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|\#[^\n]*|(?P<name>(?<![.\w])[^\W\d]\w*+)(?!=[^=])""",
    re.DOTALL,
)
_DIRECTIVE = re.compile(r"(?P<indent>\s*)(?P<dots>\.\.\.\s+)?#: (?P<words>.*\S)\s*")


class Line(NamedTuple):
    """A line of a template."""

    text: str
    path: Path
    number: int
    condition: tuple[str, ...] = ()  # of the place, as it is written

    def error(self, message: str) -> TemplateError:
        return TemplateError(self.path, self.number, message)

    def when(self, condition: tuple[str, ...]) -> "Line":
        """The line, under one more condition."""
        if not condition:
            return self
        return Line(self.text, self.path, self.number, (*self.condition, *condition))


@dataclass(frozen=True)
class Directive:
    line: Line
    indent: int
    word: str  # slot, region, end, replace, wrap, keep, body, file, when, into
    name: str
    condition: tuple[str, ...] = ()  # its words
    slot: str = ""  # the slot that must be filled

    @property
    def needs_code(self) -> bool:
        """Whether a slot stands where Python needs a statement."""
        return self.line.text.lstrip().startswith("...")


@dataclass(frozen=True)
class Part:
    """The lines of a fragment for one place."""

    directive: Directive
    lines: tuple[Line, ...]

    @cached_property
    def names(self) -> set[str]:
        return find_names(self.lines)


@dataclass(frozen=True)
class Fragment:
    imports: tuple[Line, ...]
    parts: tuple[Part, ...]


@dataclass
class _Target:
    """What is put into one file, by place."""

    holds: Callable[[Directive], bool]  # whether the condition of a region holds
    slots: dict[str, list[Part]] = field(default_factory=dict)
    replacements: dict[str, Part] = field(default_factory=dict)
    wraps: dict[str, list[Part]] = field(default_factory=dict)
    regions: dict[str, list[Line]] = field(default_factory=dict)  # the bodies met so far
    met: set[tuple[str, str]] = field(default_factory=set)


def read_lines(path: Path) -> list[Line]:
    text = path.read_text(encoding="utf-8")
    return [Line(row, path, number) for number, row in enumerate(text.splitlines(), start=1)]


def read_parts(lines: Sequence[Line]) -> tuple[tuple[Line, ...], tuple[Part, ...]]:
    """The imports at the top, and the lines for each place below.

    Raises TemplateError for lines that belong to no place.
    """
    imports: list[Line] = []
    parts: list[tuple[Directive, list[Line]]] = []
    for line in lines:
        directive = read_directive(line)
        if directive and directive.word in ("slot", "replace", "wrap") and not directive.indent:
            parts.append((directive, []))
        elif parts:
            parts[-1][1].append(line.when(parts[-1][0].condition))
        else:
            imports.append(line)
    statements = parse(imports).body
    for node in statements:
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
            raise imports[node.lineno - 1].error("only imports may stand above the first place")
    return tuple(imports), tuple(Part(d, tuple(_strip(rows))) for d, rows in parts)


def always(region: Directive) -> bool:
    """Regions without conditions."""
    return True


def compose(
    base: Sequence[Line],
    fragments: Iterable[Fragment],
    holds: Callable[[Directive], bool] = always,
    optional: frozenset[tuple[str, str]] = frozenset(),
) -> list[Line]:
    """The lines of a base template with all fragments in their places, in the order given.

    `holds` tells whether the condition of a region does. Where several features wrap a region, the
    first is outermost. `optional` has the places, as `places_in` returns them, that may be missing.
    Raises TemplateError for an unknown place, two replacements of one region, or lines that can't
    be moved.
    """
    target = _Target(holds)
    for part in (part for fragment in fragments for part in fragment.parts):
        word, name = part.directive.word, part.directive.name
        if word == "slot":
            target.slots.setdefault(name, []).append(part)
        elif word == "wrap":
            target.wraps.setdefault(name, []).append(part)
        elif name in target.replacements:
            other = target.replacements[name].directive.line
            raise part.directive.line.error(
                f"region {name!r} is already replaced in {other.path}:{other.number}"
            )
        else:
            target.replacements[name] = part
    lines = _expand(base, target)
    target.met |= optional | {("wrap", name) for word, name in optional if word == "replace"}
    _check_all_met(target)
    return lines


def places_in(lines: Iterable[Line]) -> frozenset[tuple[str, str]]:
    """The slots and regions that lines offer, as what fills them names them."""
    words = {"slot": "slot", "region": "replace"}
    found = (read_directive(line) for line in lines)
    return frozenset((words[d.word], d.name) for d in found if d and d.word in words)


def is_empty(base: Sequence[Line], filled: bool) -> bool:
    """Whether a template consists of slots that nothing fills."""
    if filled:
        return False
    has_slots = any((d := read_directive(line)) and d.word == "slot" for line in base)
    statements = parse(base).body
    return has_slots and all(
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) for node in statements
    )


def _expand(lines: Sequence[Line], target: _Target) -> list[Line]:
    out: list[Line] = []
    position = 0
    while position < len(lines):
        line = lines[position]
        directive = read_directive(line)
        position += 1
        if directive is None:
            out.append(line)
        elif directive.word == "slot":
            target.met.add(("slot", directive.name))
            if directive.name not in target.slots:  # it takes the blank lines before it along
                while out and not out[-1].text.strip() and _is_blank(lines, position):
                    out.pop()
            for number, part in enumerate(target.slots.get(directive.name, ())):
                first = part.lines[0].text if part.lines else ""
                if number and re.match(r"def |class |@", first):  # two blank lines, as black has it
                    out += [Line("", line.path, line.number)] * 2
                out += _indent(_expand(part.lines, target), directive.indent)
        elif directive.word == "region":
            end = _find_end(lines, position, directive)
            body = _indent(lines[position:end], -directive.indent)
            out += _indent(_region(directive, body, target), directive.indent)
            position = end + 1
        elif directive.word == "keep":
            if directive.name not in target.regions:
                raise line.error(f"no region {directive.name!r} inside the one that is replaced")
            inner = Directive(line, directive.indent, "region", directive.name)
            kept = _region(inner, target.regions[directive.name], target)
            out += _indent(kept, directive.indent)
        else:
            raise line.error(f"{directive.word!r} is out of place")
    return out


def _region(directive: Directive, body: Sequence[Line], target: _Target) -> list[Line]:
    """A region with everything that features do to it, at indentation 0."""
    name = directive.name
    target.met |= {("replace", name), ("wrap", name)}
    if (directive.slot and directive.slot not in target.slots) or not target.holds(directive):
        _note_places(body, target)
        return []
    if replacement := target.replacements.get(name):
        _remember_regions(body, target)
        content = _expand(replacement.lines, target)
    else:
        content = _expand(body, target)
    for wrap in reversed(target.wraps.get(name, [])):
        content = _wrap(wrap, content)
    return content


def _note_places(lines: Sequence[Line], target: _Target) -> None:
    """Nobody misses the places in lines that go."""
    for line in lines:
        directive = read_directive(line)
        if directive and directive.word == "region":
            target.met |= {("replace", directive.name), ("wrap", directive.name)}
        elif directive and directive.word == "slot":
            target.met.add(("slot", directive.name))
            for part in target.slots.get(directive.name, ()):
                _note_places(part.lines, target)


def _remember_regions(body: Sequence[Line], target: _Target) -> None:
    """Note the regions inside a body, for a replacement that keeps them."""
    for position, line in enumerate(body):
        directive = read_directive(line)
        if directive and directive.word == "region":
            end = _find_end(body, position + 1, directive)
            inner = _indent(body[position + 1 : end], -directive.indent)
            target.regions[directive.name] = inner
            target.met |= {("replace", directive.name), ("wrap", directive.name)}


def _wrap(wrap: Part, content: Sequence[Line]) -> list[Line]:
    first = wrap.directive.line
    code = (line for line in wrap.lines if not re.match(r"\s*(#|$)", line.text))
    head = next(code, first)
    if not re.match(r"(async )?with |try:", head.text):
        # a loop would change what `break` means, and an `if` leaves names unbound
        raise head.error("a region may be wrapped only in 'with' or 'try'")
    out: list[Line] = []
    bodies = 0
    for line in wrap.lines:
        directive = read_directive(line)
        if directive and directive.word == "body":
            bodies += 1
            out += _indent(content, directive.indent)
        else:
            out.append(line)
    if bodies != 1:
        raise first.error("a wrap needs '...  #: body' once")
    return out


def _find_end(lines: Sequence[Line], start: int, region: Directive) -> int:
    for position in range(start, len(lines)):
        directive = read_directive(lines[position])
        if directive and directive.word == "end" and directive.name == region.name:
            return position
    raise region.line.error(f"region {region.name!r} has no '#: end {region.name}'")


def _check_all_met(target: _Target) -> None:
    parts = [part for parts in target.slots.values() for part in parts]
    parts += target.replacements.values()
    parts += [part for parts in target.wraps.values() for part in parts]
    for part in parts:
        word, name = part.directive.word, part.directive.name
        if (word, name) not in target.met:
            kind = "slot" if word == "slot" else "region"
            known = sorted({other for met, other in target.met if met == word})
            into = re.match("#: into (.*) at ", part.directive.line.text)  # from the library
            where = f" in {into[1]}" if into else ""
            raise part.directive.line.error(
                f"there is no {kind} {name!r}{where}; there are: {', '.join(known) or 'none'}"
            )


def is_directive(line: Line) -> bool:
    """Whether a line of a template names a place, and is not code."""
    return read_directive(line) is not None


def read_directive(line: Line) -> Directive | None:
    """The place that a line names, if it does. Raises TemplateError for words that are none."""
    match = _DIRECTIVE.fullmatch(line.text) if "#: " in line.text else None
    if not match:
        return None
    word, *words = match["words"].split()
    indent = len(match["indent"])
    if match["dots"]:
        if word == "body" and not words:
            return Directive(line, indent, word, "")
        if word in ("keep", "slot") and len(words) == 1:
            return Directive(line, indent, word, words[0])
    elif word == "file":
        return Directive(line, indent, word, "", tuple(words))
    elif word in ("when", "with", "without"):
        return Directive(line, indent, "when", "", (word, *words))
    elif word == "region" and len(words) == 5 and words[1::2] == ["if", "is"]:
        return Directive(line, indent, word, words[0], slot=words[2])
    elif word in ("slot", "region", "end", "replace", "wrap", "into") and words:
        return Directive(line, indent, word, words[0], tuple(words[1:]))
    raise line.error(f"is not a valid place: {line.text.strip()}")


def find_names(lines: Iterable[Line]) -> set[str]:
    """The names that code uses, also in f-strings: not those that it only binds or passes by."""
    found = set[str]()
    for match in _TOKENS.finditer("\n".join(line.text for line in lines)):
        if match["name"]:
            found.add(match["name"])
        elif match["f"]:
            for inner in re.findall(r"{([^{}]*)}", match["text"]):
                found.update(re.findall(r"(?<![.\w])[^\W\d]\w*", inner))
    return found


def _indent(lines: Sequence[Line], by: int) -> list[Line]:
    """The lines moved to the right, or to the left if `by` is negative."""
    if by == 0:
        return list(lines)
    _refuse_long_strings(lines)
    moved = []
    for line in lines:
        text = " " * by + line.text if by > 0 else line.text[-by:]
        if by < 0 and line.text[:-by].strip():
            raise line.error("a region's lines must not be indented less than its first")
        text = text if line.text.strip() else ""
        moved.append(Line(text, line.path, line.number, line.condition))
    return moved


def _refuse_long_strings(lines: Sequence[Line]) -> None:
    """Moving the lines of a string changes the string."""
    text = "".join(f"{line.text}\n" for line in lines)
    if not re.search(r'"""|\'\'\'|\\$', text, re.MULTILINE):
        return
    begins = (tokenize.STRING, getattr(tokenize, "FSTRING_START", None))
    ends = (tokenize.STRING, getattr(tokenize, "FSTRING_END", None))  # apart since Python 3.12
    first: list[int] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in begins:
                first.append(token.start[0])
            if token.type in ends and (start := first.pop()) != token.end[0]:
                message = "a string that spans several lines can't be indented"
                raise lines[start - 1].error(message)
    except (tokenize.TokenError, IndentationError):
        raise lines[0].error("these lines are not valid Python") from None


def _is_blank(lines: Sequence[Line], position: int) -> bool:
    return position < len(lines) and not lines[position].text.strip()


def _strip(lines: Sequence[Line]) -> Sequence[Line]:
    """Without blank lines at the end."""
    end = len(lines)
    while end and not lines[end - 1].text.strip():
        end -= 1
    return lines[:end]


def parse(lines: Sequence[Line]) -> ast.Module:
    """The code of a template, with a name in place of each value of an answer."""
    text = "\n".join(line.text for line in lines)
    try:
        return _parse(text)
    except SyntaxError as error:
        line = lines[min(error.lineno or 1, len(lines)) - 1]
        raise line.error(f"is not valid Python: {error.msg}") from None


@lru_cache(maxsize=1024)  # the page renders one project after the other
def _parse(text: str) -> ast.Module:
    return ast.parse(re.sub(r"{{.*?}}", "_", text))
