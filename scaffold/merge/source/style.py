"""What an owner changed throughout a file: newlines, indentation, layout, quotes, names.

The pristine and the new file are translated into the same style before they are compared, so that
none of this counts as a difference, and new lines look like the lines around them.
"""

import builtins
import keyword
import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from scaffold.merge.source.imports import imports_of
from scaffold.merge.source.matcher import pairs
from scaffold.merge.source.statement import (
    Statement,
    Statements,
    fingerprint,
    parse_unit,
    strings,
    tokens_of,
)

_GENERATED = 100  # the line length of generated files
# common ones first: trying all of them would take seconds
_WIDTHS = (88, 79, 120, 100, 80, 99, 119, 90, 110, 96, 72, 127, 140)
_NAME = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class Ending:
    """How a file begins and ends its lines."""

    crlf: bool = False
    mark: bool = False  # a byte order mark
    final: bool = True  # a newline at the end

    def put_on(self, text: str) -> str:
        text = text if self.final else text.removesuffix("\n")
        text = text.replace("\n", "\r\n") if self.crlf else text
        return f"\ufeff{text}" if self.mark else text


def take_ending(text: str) -> tuple[str, Ending]:
    """The text with plain newlines, and its own kind. Mixed newlines stay."""
    mark = text.startswith("\ufeff")
    text = text.removeprefix("\ufeff")
    plain = plain_newlines(text)
    final = plain.endswith("\n") or not plain
    return plain if final else plain + "\n", Ending(plain != text, mark, final)


def plain_newlines(text: str) -> str:
    """The text without the carriage returns of Windows. Mixed newlines stay."""
    crlf = text.count("\r\n") == text.count("\n")
    return text.replace("\r\n", "\n") if crlf else text


def find_indent(text: str) -> str:
    """The indentation of one block: that of most blocks."""
    block = r"^[^\s#].*:[ \t]*(?:#.*)?\n(?:[ \t]*(?:#.*)?\n)*([ \t]+)\S"
    found = Counter(re.findall(block, text, re.MULTILINE)).most_common(1)
    indent = found[0][0] if found else "    "
    return "\t" if "\t" in indent else indent if len(indent) <= 8 else "    "


# layout


@dataclass(frozen=True)
class Layout:
    """The layout of an owner's file, if it differs from what was generated."""

    width: int | None  # the line length, if black would change nothing
    single: bool  # quotes

    def put_on(self, text: str) -> str:
        return self.wrap(single_quotes(text) if self.single else text)

    def wrap(self, text: str) -> str:
        """The text with this line length, and the quotes that it has."""
        import black

        if self.width is None:
            return text
        mode = black.Mode(line_length=self.width, string_normalization=not self.single)
        return black.format_str(text, mode=mode)

    def fits(self, text: str) -> bool:
        """Whether this layout would change nothing."""
        try:
            return self.put_on(text) == text
        except ValueError:  # InvalidInput: black can't read it
            return False


def find_layout(base: Statements, ours: Statements, text: str) -> Layout | None:
    """The layout of a file that its owner reformatted throughout, else None."""
    # a statement may be there in several functions, with other comments
    known = {unit.key: unit for unit in base}
    there = {(unit.scope, unit.key): unit for unit in base}
    shapes = {unit.flat for unit in base}
    changed = [
        (there.get((unit.scope, unit.key), known[unit.key]), unit)
        for unit in ours
        if unit.key in known and unit.flat not in shapes
    ]
    if not changed:
        return None
    marks = Counter(token for token, _, _ in _strings(text))
    single = marks["'"] > marks['"']
    width = _find_width(changed, text, single)
    if len(changed) < 3 and width is None:
        return None  # a few statements, formatted by hand
    return Layout(width, single)


def _find_width(
    changed: Sequence[tuple[Statement, Statement]], text: str, single: bool
) -> int | None:
    """The line length for which black leaves the text unchanged, if there is one.

    Statements that were split were too long for it, and those on one line were not. Without
    either, it is that of generated files.
    """
    split = [len(old.lines[0]) for old, new in changed if len(old.lines) == 1 < len(new.lines)]
    joined = [len(new.lines[0]) for old, new in changed if len(new.lines) == 1 < len(old.lines)]
    low, high = max(joined, default=0), min(split, default=1000)
    widths = [width for width in _WIDTHS if low <= width < high]
    if not split and not joined:
        widths.insert(0, _GENERATED)
    try:
        return next((n for n in widths[:4] if Layout(n, single).wrap(text) == text), None)
    except ValueError:  # InvalidInput: black can't read it
        return None


def single_quotes(text: str) -> str:
    """The text with single quotes around strings without quotes in them."""
    rows = text.split("\n")
    for mark, (row, start), (end_row, end) in reversed(list(_strings(text))):
        literal = rows[row - 1][start:end]
        if mark == '"' and row == end_row:
            inside = literal[literal.index('"') + 1 : -1]
            if not set(inside) & set("\"'\\"):
                prefix = literal[: literal.index('"')]
                rows[row - 1] = f"{rows[row - 1][:start]}{prefix}'{inside}'{rows[row - 1][end:]}"
    return "\n".join(rows)


def _strings(text: str) -> Iterator[tuple[str, tuple[int, int], tuple[int, int]]]:
    """The quotes and the span of each string with a single quote character at each end."""
    for string, start, end in strings(tokens_of(text)):
        if not string.endswith(('"""', "'''")):
            yield string[-1], start, end


# names


@dataclass
class Renames:
    """Consistent renames.

    A name is `x`, an attribute `.x`, the name of an argument `x=`, a module in `from x` `@x`.
    """

    everywhere: dict[str, str] = field(default_factory=dict)
    inside: dict[str, dict[str, str]] = field(default_factory=dict)  # by top-level definition

    def of(self, scope: str) -> Mapping[str, str]:
        return {**self.everywhere, **self.inside.get(scope, {})}


NO_RENAMES = Renames()
_MARKS = "@.="  # of what is no name


@dataclass(frozen=True)
class Word:
    name: str  # as Renames has it
    start: int
    end: int


def find_renames(base: Statements, ours: Statements) -> Renames:
    """What was renamed between two versions of a file, at least twice and without exception."""
    before, after = _names_by_scope(base), _names_by_scope(ours)
    found: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    kept: set[str] = set()  # names in lines that are as they were
    functions: set[tuple[str, str]] = set()  # which may leave their names to new ones
    for number, position in pairs([mask(unit) for unit in base], [mask(unit) for unit in ours]):
        old, new = base[number], ours[position]
        if old.text == new.text:
            kept.update(word.name for word in words(old))
            continue
        if old.text.startswith("def "):
            functions.add((_top(old), _top(new)))
        for a, b in zip(words(old), words(new), strict=False):
            if a.name != b.name and _kind(a.name) == _kind(b.name):
                found[_top(old)][a.name, b.name] += 1
    renames = Renames()
    all_before, all_after = (set().union(*side.values()) for side in (before, after))
    for (x, y), count in sum(found.values(), Counter[tuple[str, str]]()).items():
        gone = x not in all_after or ((x, y) in functions and x not in kept)
        if gone and y not in all_before and count >= 2:
            renames.everywhere[x] = y
    for scope, counts in found.items():
        for (x, y), count in counts.items():
            new_scope = renames.everywhere.get(scope, scope)
            if x not in after[new_scope] and y not in before[scope] and count >= 2:
                renames.inside.setdefault(scope, {}).setdefault(x, y)
    for scope, names in before.items():
        lost = {x for x in names - after[scope] - renames.of(scope).keys() if x.isidentifier()}
        if lost and after[scope] and (table := _now_attributes(lost, base, ours, scope)):
            renames.inside.setdefault(scope, {}).update(table)
    return renames


def _now_attributes(
    names: Collection[str], base: Statements, ours: Statements, scope: str
) -> dict[str, str]:
    """The variables of a function that are attributes of an object now: `run.step` for `step`."""
    old, own = ([unit for unit in side if _top(unit) == scope] for side in (base, ours))
    text = "\n".join(unit.text for unit in own if not unit.is_comment)
    found: dict[str, str] = {}
    for name in names:
        held = re.findall(rf"(?<!\.)\b(\w+)\.{name}\b", text)
        if len(held) < 2 or len(set(held)) > 1:
            continue
        table = {name: f"{held[0]}.{name}"}
        with_it = [unit for unit in old if any(word.name == name for word in words(unit))]
        if all(parse_unit(renamed_text(unit, table).strip()) for unit in with_it):
            found |= table  # no parameter
    return found


def drop_replaced(
    renames: Renames,
    base: Statements,
    ours: Statements,
    is_renamed: Callable[[str, str, str], bool],
) -> None:
    """Forget renames of what a file imports, unless it has the new name where it comes from.

    `RMSprop` in all places of `AdamW` is another optimizer, and argparse's `Namespace` in those of
    `Config` another class. `is_renamed` tells this of a module, the old name and the new one.
    """
    before, now = _modules(base), _modules(ours)
    for table in (renames.everywhere, *renames.inside.values()):
        for old, new in list(table.items()):
            module = before.get(old, now.get(new))
            if module is not None and not is_renamed(module, old, new):
                del table[old]


def _modules(units: Statements) -> dict[str, str]:
    """The names that a file imports, each with its module; of a module itself, nothing."""
    rows = (row for unit in units for row in imports_of(unit) if row.is_plain)
    return {(row.name or row.module).split(".")[0]: row.module if row.name else "" for row in rows}


def names_in(units: Statements) -> set[str]:
    return {word.name for unit in units for word in words(unit)}


def rename_units(units: Statements, renames: Renames) -> list[Statement]:
    """The units with the new names in code, but not in texts and comments."""
    if not renames.everywhere and not renames.inside:
        return list(units)
    out = []
    for unit in units:
        text = renamed_text(unit, renames.of(_top(unit)))
        scope = ".".join(renames.everywhere.get(name, name) for name in unit.scope.split("."))
        if text != unit.text or scope != unit.scope:
            unit = replace(
                unit, lines=tuple(text.split("\n")), key=fingerprint(text.strip()), scope=scope
            )
        out.append(unit)
    return out


def renamed_text(unit: Statement, table: Mapping[str, str]) -> str:
    """What a unit says with other names, by the old ones: of variables, or `progress.step`."""
    text, after = unit.text, Word("", -1, -1)
    for word in reversed(words(unit)):
        dotted = f"{word.name}{after.name}" if word.end + 1 == after.start else ""
        old, end = (dotted, after.end) if dotted in table else (word.name, word.end)
        if old in table:
            text = text[: word.start] + table[old].strip(_MARKS) + text[end:]
        after = word
    return text


def says_same(old: Statement, new: Statement, renames: Collection[tuple[str, str]]) -> bool:
    """Whether two units say the same, but for renames: of a variable, attribute or argument."""
    if old.same == new.same:
        return True
    plain = {(one.strip(_MARKS), two.strip(_MARKS)) for one, two in renames}
    pairs = [
        (one.name.strip(_MARKS), two.name.strip(_MARKS))
        for one, two in zip(words(old), words(new), strict=False)
    ]
    return (mask(old), old.comment) == (mask(new), new.comment) and all(
        one == two or (one, two) in plain for one, two in pairs
    )


def _names_by_scope(units: Statements) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for unit in units:
        found[_top(unit)].update(word.name for word in words(unit))
    return found


def _top(unit: Statement) -> str:
    """The function or class at the top of a file whose names a unit has: of a `def`, its own."""
    own = None if unit.scope else re.match(r"(?:async\s+)?def\s+(\w+)", unit.text)
    return own[1] if own else unit.scope.split(".")[0]


def _kind(name: str) -> str:
    return name[:1] if name[:1] in _MARKS else name[-1:] if name[-1:] == "=" else ""


def words(unit: Statement) -> Sequence[Word]:
    """The names in a unit's code, including those in f-strings."""
    return () if unit.is_comment else _read(unit.text, _is_in_class(unit))[0]


def mask(unit: Statement) -> str:
    """What a unit says if all names are the same."""
    return unit.key if unit.is_comment else _read(unit.text, _is_in_class(unit))[1]


def _is_in_class(unit: Statement) -> bool:
    return unit.scope.rpartition(".")[2][:1].isupper()


@lru_cache(maxsize=262_144)
def _read(text: str, in_class: bool) -> tuple[tuple[Word, ...], str]:
    """The words and the mask of a unit, whose tokens are read once."""
    tokens = tokens_of(text.strip())
    return tuple(_words(text, tokens, in_class)), _mask(tokens)


def _words(text: str, tokens: Sequence[tokenize.TokenInfo], in_class: bool) -> Iterator[Word]:
    lead = len(text) - len(text.lstrip())
    body = text[lead:]
    starts = [0]
    for row in body.split("\n"):
        starts.append(starts[-1] + len(row) + 1)
    before = ""
    level = 0
    for number, token in enumerate(tokens):
        start = lead + starts[min(token.start[0] - 1, len(starts) - 1)] + token.start[1]
        if token.type == tokenize.NAME and start < len(text):
            if not keyword.iskeyword(token.string):
                after = tokens[number + 1].string if number + 1 < len(tokens) else ""
                name = token.string
                if before == ".":
                    name = f".{name}"
                elif before == "from" and number == 1:
                    name = f"@{name}"
                elif level and after == "=":
                    name = f"{name}="
                elif in_class and not level and (before == "def" or (not before and after in ":=")):
                    name = f".{name}"
                yield Word(name, start, start + len(token.string))
        elif token.type == tokenize.STRING and re.match(r"(?i)r?f", token.string):
            yield from _words_of_fstring(token.string, start)
        level += (token.string in ("(", "[", "{")) - (token.string in (")", "]", "}"))
        if token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.INDENT):
            before = token.string


def _words_of_fstring(text: str, start: int) -> Iterator[Word]:
    """The names between the braces of an f-string, which is a single token before Python 3.12."""
    for part in re.finditer(r"(?<!\{)\{(?!\{)([^{}:!]*)", text):
        for name in _NAME.finditer(part[1]):
            place = part.start(1) + name.start()
            held = "." if text[place - 1] == "." else ""
            if not keyword.iskeyword(name[0]) and text[place - 1] not in "\"'":
                yield Word(held + name[0], start + place, start + place + len(name[0]))


def _mask(tokens: Sequence[tokenize.TokenInfo]) -> str:
    out = []
    for token in tokens:
        if token.type == tokenize.NAME:
            plain = keyword.iskeyword(token.string) or hasattr(builtins, token.string)
            out.append(token.string if plain else "_")
        elif token.type == tokenize.STRING:
            literal = token.string.replace("'", '"')
            if re.match(r"(?i)r?f", literal):
                literal = re.sub(r"\{([^{}:!]*)", lambda part: _NAME.sub("_", part[0]), literal)
            out.append(literal)
        elif token.type not in (tokenize.NL, tokenize.COMMENT):
            out.append(token.string.strip())
    return " ".join(out)
