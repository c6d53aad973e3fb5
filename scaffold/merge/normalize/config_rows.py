"""Settings that an owner wrote in another form: each as a row, after the same pattern.

`parser.add_argument("--seed", type=int, default=0)`, `seed=0,`, `"seed": 0,`, `seed: 0`
are rows. The pattern is read from those that are there, and new rows are written after it.
"""

import ast
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from scaffold.merge.diff.expression import LINE_LENGTH, lay_out
from scaffold.merge.source.parse import is_python
from scaffold.merge.source.statement import Rendered, Statement, Statements, fingerprint
from scaffold.merge.source.training import BOOLEAN_ACTION, CONFIG

_NAME, _DASHED, _VALUE, _TYPE, _WORDS, _DOUBLED, _HINT = map(chr, range(1, 8))
_FEW = 3  # fields that a pattern has to fit at least


@dataclass(frozen=True)
class Field:
    """A field of the generated Config, as its source has it."""

    name: str
    type: str
    value: str
    comment: str


Form = Callable[[Field], str]  # writes the value of a field


def fields_of(units: Statements) -> list[Field]:
    """The fields of the dataclass Config."""
    return list(_numbered_fields(units).values())


def _numbered_fields(units: Statements) -> dict[int, Field]:
    """The fields of the dataclass Config, by the numbers of their statements."""
    found = {}
    above = ""
    for number, unit in enumerate(units):
        if unit.scope != CONFIG or unit.depth != 1:
            continue
        if unit.is_comment:
            above = unit.key
            continue
        row = re.match(r"(\w+)\s*:\s*(.+?)\s*=\s*(.+)$", unit.text.strip(), re.DOTALL)
        if row:
            words = unit.comment or above
            value = row[3].removesuffix(unit.comment).rstrip() if unit.comment else row[3]
            found[number] = Field(row[1], row[2], value, words.removeprefix("#").strip())
        above = ""
    return found


def follow_field_form(base: Statements, ours: Statements, theirs: Statements) -> Rendered:
    """The fields of Config in the owner's form: `seed: int = option(0, "seeds the weights")`.

    New ones have it, too, if most of his fields do.
    """
    was, kept = {field.name: field for field in fields_of(base)}, {*fields_of(ours)}
    changed = [field for field in was.values() if field not in kept]
    own = [statement(unit) for unit in ours if unit.scope == CONFIG and unit.depth == 1]
    found = find_rows(own, changed, FORMS[:1]) if fields_of(theirs) else None
    if found is None or not found.pattern.is_other_field:
        return list(base), list(theirs)
    pattern, places = found.pattern, found.places
    written = {_says(pattern.fill(field)) for field in changed}
    is_usual = 2 * sum(_says(row) in written for row in own) >= len(was)
    comments = {unit.key for unit in ours if unit.is_comment}

    def in_form(side: Statements) -> list[Statement]:
        units: dict[int, Statement] = dict(enumerate(side))
        for number, field in _numbered_fields(side).items():
            if statement(side[number]) in own:
                continue
            if field.name in places:
                text = found.write(field, own[places[field.name]], was[field.name])
            elif is_usual and field.name not in was:
                text = pattern.fill_quoted(field)
            else:
                continue
            units[number] = replace(unit_of(text, side[number]), blanks=side[number].blanks)
            above = side[number - 1]
            is_said = above.is_comment and not side[number].comment and _WORDS in pattern.text
            if is_said and above.key not in comments:
                del units[number - 1]
        return list(units.values())

    return in_form(base), in_form(theirs)


def _plain(field: Field) -> str:
    return re.sub(r"^Path\((.*)\)$", r"\1", field.value)


def as_json(field: Field) -> str:
    try:
        return json.dumps(ast.literal_eval(_plain(field)))
    except (ValueError, SyntaxError):
        return _plain(field)


def _bare(field: Field) -> str:
    """A text without quotes, as YAML may have it."""
    return _plain(field).strip("\"'") or "''"


def _single(field: Field) -> str:
    return _plain(field).replace('"', "'")


# how a value may be written
FORMS: Sequence[Form] = (
    lambda field: field.value,
    _plain,
    _single,
    as_json,
    _bare,
    lambda field: field.name,  # `seed=seed`
)


@dataclass(frozen=True)
class Pattern:
    text: str
    form: Form

    def fill(self, field: Field) -> str:
        """The row of a field."""
        text = self.text
        if field.type == "bool" and f"type={_TYPE}" in text:
            text = text.replace(f"type={_TYPE}", BOOLEAN_ACTION)
        known = field.type if field.type in ("int", "float", "str", "Path", "bool") else "str"
        parts = {
            _NAME: field.name,
            _DASHED: field.name.replace("_", "-"),
            _VALUE: self.form(field),
            _TYPE: known,
            _WORDS: field.comment,
            _DOUBLED: field.comment.replace("%", "%%"),
            _HINT: field.type,
        }
        return re.sub("[\1-\7]", lambda mark: parts[mark[0]], text)

    @property
    def is_other_field(self) -> bool:
        """Whether it is that of a field with any type, but not as the generated ones are."""
        return _HINT in self.text and not self.text.startswith(f"{_NAME}: {_HINT} = {_VALUE}")

    def fill_quoted(self, field: Field) -> str:
        """The row of a field of a class, in which its comment is a text."""
        words = field.comment
        escaped = [words, *(words.replace(quote, f"\\{quote}") for quote in ('"', "'"))]
        rows = [self.fill(replace(field, comment=words)) for words in escaped]
        return next(filter(is_python, rows), rows[0])

    def begins(self, row: str, field: Field) -> bool:
        """Whether a row is that of a field, whatever its value is."""
        start = re.match(r"[^\1\2]*[\1\2]\W?", self.text)
        assert start
        return row.startswith(replace(self, text=start[0]).fill(field))


def patterns_of(row: str, field: Field, form: Form) -> Iterator[Pattern]:
    """The patterns after which a row may be written, if it is that of a field."""
    text = row
    if field.comment and text.count(field.comment) == 1:
        text = text.replace(field.comment, _WORDS)
    elif field.comment and text.count(doubled := field.comment.replace("%", "%%")) == 1:
        text = text.replace(doubled, _DOUBLED)
    text = re.sub(rf"\btype={re.escape(field.type)}(?!\w)", f"type={_TYPE}", text)
    text = re.sub(rf"(: |\[){re.escape(field.type)}(?=,| =)", rf"\g<1>{_HINT}", text, count=1)
    value = re.escape(form(field))
    for front, name, mark in (
        (r"(?<![\w.-])()", field.name, _NAME),
        ("(--)", field.name, _NAME),
        ("(--)", field.name.replace("_", "-"), _DASHED),
    ):
        found = re.search(rf"{front}{re.escape(name)}(?![\w-])", text)
        if found:
            head = text[: found.start()] + found[1] + mark
            rest = text[found.end() :]
            rest, valued = re.subn(rf"(?<![\w.\-]){value}(?![\w.])", _VALUE, rest)
            rest = re.sub(rf"([\"']){re.escape(field.name)}\1", rf"\1{_NAME}\1", rest)
            if valued == 1:
                yield Pattern(head + rest, form)


@dataclass(frozen=True)
class Rows:
    """The rows of the settings in one block of a file."""

    pattern: Pattern
    places: dict[str, int]  # of the rows, by field

    @property
    def start(self) -> int:
        return min(self.places.values())

    @property
    def end(self) -> int:
        return max(self.places.values()) + 1

    def write(self, field: Field, own: str, was: Field) -> str:
        """The row of a field, written as the owner's row `own` is written for the field `was`."""
        for form in (self.pattern.form, *FORMS):
            for special in patterns_of(own, was, form):
                if special.fill(was) == own:
                    return special.fill(field)
        return self.pattern.fill(field)


def find_rows(
    rows: Sequence[str], fields: Sequence[Field], forms: Sequence[Form] = FORMS
) -> Rows | None:
    """The rows that follow one pattern, for most of the fields; None if there are none."""
    best: Rows | None = None
    most = 0
    for pattern in dict.fromkeys(_patterns(rows, fields, forms)):
        written = {_says(pattern.fill(field)): field for field in fields}
        exact = sum(_says(row) in written for row in rows)
        if exact <= most or exact < _FEW:
            continue
        places: dict[str, int] = {}
        for number, row in enumerate(rows):
            for field in fields:
                if field.name not in places and pattern.begins(row, field):
                    places[field.name] = number
        if 2 * len(places) >= len(fields):
            best, most = Rows(pattern, places), exact
    return best


def _patterns(
    rows: Sequence[str], fields: Sequence[Field], forms: Sequence[Form]
) -> Iterator[Pattern]:
    for form in forms:
        for field in fields:
            for row in rows:
                if re.search(rf"\b{re.sub('_', '[-_]', field.name)}\b", row):
                    yield from patterns_of(row, field, form)


def _says(row: str) -> str:
    return row.strip().replace("'", '"')


def statement(unit: Statement) -> str:
    """A statement on one line, with its comment, as black would write it."""
    if len(unit.lines) == 1:
        return unit.text.strip()
    text = " ".join(row.strip() for row in unit.lines)
    text = re.sub(r"([(\[{]) ", r"\1", text)
    return re.sub(r",? ([)\]}])", r"\1", text)


def unit_of(text: str, like: Statement) -> Statement:
    """A statement as a unit, in the block of another."""
    margin = like.margin
    if like.is_code and "\n" not in text and len(margin + text) > LINE_LENGTH and "#" not in text:
        text = lay_out(text, len(margin), like).replace("\n", f"\n{margin}")
    _, mark, words = text.partition("  #")
    comment = f"#{words}" if mark else ""
    key = fingerprint(text.strip()) if like.is_code else (margin + text).rstrip()
    return replace(
        like, lines=tuple((margin + text).split("\n")), key=key, comment=comment, blanks=0
    )
