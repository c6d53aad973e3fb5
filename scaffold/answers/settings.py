"""Writes `scaffold.toml`: the answers, with what each of them means beside it.

An owner edits the file. To put new answers into it, its text is taken apart into rows, and only
rows that have to change do: everything else stays as it is, to the byte.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from scaffold.answers.catalog import Catalog, Option, Value
from scaffold.answers.schema import (
    applies,
    check,
    default_answers,
    flatten,
    is_on,
    schema,
    switch_key,
)
from scaffold.errors import AnswerError, ScaffoldError

Key = tuple[str, ...]  # of a key or a table: ("training", "epochs")


def write_settings(catalog: Catalog, answers: Mapping[str, Value]) -> str:
    """The text of the file. A feature that is off has no line but `enabled = false`."""
    tables: dict[str, list[str]] = {}
    for option in schema(catalog).values():
        if applies(catalog, option, answers):
            table = option.key.rpartition(".")[0]
            tables.setdefault(table, []).append(_row(option, option.name, answers[option.key]))
    blocks = [f"[{table}]\n" + "\n".join(rows) for table, rows in tables.items()]
    head = (
        "# The answers that this project was written from: change them, then run `scaffold update`."
    )
    return "\n\n".join([head, *blocks]) + "\n"


def _row(option: Option, name: str, value: Value) -> str:
    return f"{name} = {toml_literal(value)}  # {describe(option)}"


def describe(option: Option) -> str:
    """The comment of an option, with its choices where they are few words."""
    if not option.choices or len(option.choices) == 1:
        return option.comment
    return f"{option.comment}: {', '.join(choice.value for choice in option.choices)}"


def toml_literal(value: Value) -> str:
    import tomlkit

    return tomlkit.item(value).as_string()


def rewrite_settings(
    catalog: Catalog,
    old_text: str,
    answers: Mapping[str, Value],
    previous: Mapping[str, Value],
    rendered: str | None = None,
) -> str:
    """The owner's file with other answers in it.

    `previous` are the answers of the last render, and `rendered` is the file as it was then, if it
    is known. A file that nobody has edited becomes what `write_settings` writes. In any other,
    values change in their rows, and missing rows are added to their tables. Rows without an effect
    go; one with a comment of its owner stays where it does no harm, or else as a comment.

    Raises ScaffoldError if the text is not TOML.
    """
    if rendered is None:
        rendered = write_settings(catalog, {**default_answers(catalog, previous), **previous})
    if old_text == rendered:
        return write_settings(catalog, answers)
    text = _Rewrite(catalog, old_text, answers, previous, rendered).text()
    if not _holds(catalog, text, answers):
        raise ScaffoldError(
            "scaffold.toml: can't be rewritten. Write its settings as rows of tables, such as "
            "[training], and leave no key out of them."
        )
    return text


def _holds(catalog: Catalog, text: str, answers: Mapping[str, Value]) -> bool:
    """Whether a text has each answer with an effect, or leaves out a feature that is off."""
    options = schema(catalog)
    try:
        data = tomllib.loads(text)
        given = {key: check(options[key], value) for key, value in flatten(catalog, data)}
    except (ValueError, KeyError, AnswerError):
        return False
    for key, option in options.items():
        if key not in given and _is_left_out(catalog, data, key):
            given[key] = False
        if applies(catalog, option, answers) and given.get(key) != answers[key]:
            return False
    return True


def _is_left_out(catalog: Catalog, data: Mapping[str, Any], key: str) -> bool:
    feature = key.removeprefix("features.").removesuffix(".enabled")
    return key == f"features.{feature}.enabled" and feature not in data.get("features", [feature])


# rows


@dataclass(frozen=True)
class _Row:
    """A statement, a comment or a blank line: `head`, `value` and `tail` together are its text."""

    head: str  # of `key = value  # comment` what is before the value; all of any other line
    value: str = ""
    tail: str = ""  # what is behind it in the line
    end: str = ""  # "\n", "\r\n", or nothing at the end of the file
    section: Key = ()  # the table in whose header's range it is
    path: Key = ()  # of a header its table, of a statement its key; empty for a comment
    data: Any = None  # what the value is
    is_header: bool = False

    @property
    def text(self) -> str:
        return self.head + self.value + self.tail + self.end

    @property
    def comment(self) -> str:
        return self.tail.strip().removeprefix("#").strip()

    @property
    def indent(self) -> str:
        return self.head[: len(self.head) - len(self.head.lstrip())]

    @property
    def is_blank(self) -> bool:
        return not self.head.strip()


def _read_rows(text: str) -> list[_Row]:
    """A text of TOML as rows. What belongs together is found by asking TOML's own parser."""
    lines = _split(text)
    rows: list[_Row] = []
    section: Key = ()
    start = 0
    while start < len(lines):
        line = lines[start].strip()
        stop = start + 1
        if not line or line.startswith("#"):
            row = _Row(lines[start], section=section)
        elif line.startswith("["):
            section = _path_of(lines[start])
            row = _Row(lines[start], section=section, path=section, is_header=True)
        else:
            # a text over several lines ends where it parses
            while (data := _parse("".join(lines[start:stop]))) is None:
                stop += 1
            row = _read_statement("".join(lines[start:stop]), section, data)
        rows.append(_split_end(row))
        start = stop
    return rows


def _split(text: str) -> list[str]:
    """The lines with the "\\n" at their end."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _split_end(row: _Row) -> _Row:
    part = "tail" if row.value else "head"
    text = getattr(row, part)
    bare = text.removesuffix("\n").removesuffix("\r")
    return replace(row, **{part: bare}, end=text[len(bare) :])


def _read_statement(text: str, section: Key, data: Mapping[str, Any]) -> _Row:
    equals = next(at for at in _places(text, "=") if _parse(text[:at] + "=0") is not None)
    ends = (at for at in _places(text, "#") if at > equals and _parse(text[:at]) is not None)
    end = next(ends, len(text))
    value = text[equals + 1 : end].strip()
    start = text.index(value, equals + 1)
    key = _path_of(text[:equals] + "=0")
    for name in key:
        data = data[name]
    return _Row(
        head=text[:start],
        value=value,
        tail=text[start + len(value) :],
        section=section,
        path=(*section, *key),
        data=data,
    )


def _places(text: str, sign: str) -> Iterator[int]:
    at = text.find(sign)
    while at >= 0:
        yield at
        at = text.find(sign, at + 1)


def _parse(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except ValueError:
        return None


def _path_of(statement: str) -> Key:
    """The names in a header, or in a key with a value that is no table."""
    names = []
    data: Any = tomllib.loads(statement)
    while isinstance(data, dict) and data:
        [(name, data)] = data.items()
        names.append(name)
    return tuple(names)


# putting answers in


class _Rewrite:
    """A file that is being rewritten."""

    def __init__(
        self,
        catalog: Catalog,
        old_text: str,
        answers: Mapping[str, Value],
        previous: Mapping[str, Value],
        rendered: str,
    ) -> None:
        try:
            project = tomllib.loads(old_text).get("project")
        except ValueError as error:
            raise ScaffoldError(f"scaffold.toml: is not TOML: {error}.") from None
        task = project.get("task") if isinstance(project, dict) else None
        if isinstance(task, str) and task in catalog.tasks:  # its owner may have changed it there
            previous = {**previous, "project.task": task}
        self.catalog = catalog
        self.answers = answers
        self.options = {tuple(key.split(".")): option for key, option in schema(catalog).items()}
        self.tables = list(dict.fromkeys(path[:-1] for path in self.options))
        self.names = {*self.tables, ("features",), *(("features", n) for n in catalog.features)}
        self.wanted = {
            path: answers[option.key]
            for path, option in self.options.items()
            if applies(catalog, option, answers)
        }
        before = {**default_answers(catalog, previous), **previous}
        self.had = {
            path
            for path, option in self.options.items()
            if option.key in previous and applies(catalog, option, before)
        }
        self.rendered = {row.path: row.comment for row in _read_rows(rendered)}
        self.newline = "\r\n" if old_text.count("\r\n") * 2 > old_text.count("\n") else "\n"
        self.rows: list[_Row] = []
        for row in _read_rows(old_text):
            kept = self._rewrite_row(row)
            if kept:
                self.rows.append(kept)
            elif row.is_header and self.rows and self.rows[-1].is_blank:
                self.rows.pop()  # stood between two tables
        self._drop_empty_tables()

    def _drop_empty_tables(self) -> None:
        """Take out the headers of tables that lost all their rows, with the blank lines below.

        Where its owner has left a comment, that stays, and the header of a feature becomes one too:
        an empty table would turn the feature on.
        """
        tables = {path[:-1] for path in self.wanted}
        headers = [at for at, row in enumerate(self.rows) if row.is_header]
        for at, end in reversed(list(pairwise([*headers, len(self.rows)]))):
            row, below = self.rows[at], self.rows[at + 1 : end]
            if row.path in tables or row.path not in self.tables or any(r.path for r in below):
                continue
            if "#" not in row.text and all(r.is_blank for r in below):
                if end == len(self.rows):
                    while at and self.rows[at - 1].is_blank:
                        at -= 1
                del self.rows[at:end]
            elif row.path[0] == "features":
                self.rows[at] = _commented(row)
            elif "#" not in row.text:  # rows of other tables may come between it and its comments
                del self.rows[at]

    def text(self) -> str:
        for table in self.tables:
            if not self._is_covered(table) and not self._may_be_missing(table):
                self._add_rows(table)
        return "".join(row.text for row in self.rows)

    # rows that are there

    def _rewrite_row(self, row: _Row) -> _Row | None:
        """The row as it will be, None if it goes."""
        if not row.path:
            return row
        if row.is_header:
            return row if row.path in self.names else None
        if row.path in self.wanted:
            return self._set(row)
        if row.path in self.names:
            return self._set_table(row)
        option = self.options.get(row.path)
        if not self._is_owners(row, option):
            return None
        if option and self._does_no_harm(option, _check(option, row.data)):
            return row
        return _commented(row)

    def _is_owners(self, row: _Row, option: Option | None) -> bool:
        """Whether the row has a comment that its owner wrote."""
        ours = {"", self.rendered.get(row.path, ""), describe(option) if option else ""}
        return row.comment not in ours

    def _does_no_harm(self, option: Option, value: Value | None) -> bool:
        """Whether a row without an effect is accepted beside the answers."""
        feature = self.catalog.features.get(option.feature)
        if value is None or option.task not in ("", self.answers["project.task"]):
            return False
        if feature and option.key == switch_key(feature):
            return not feature.is_on_with(value)
        if feature:
            return not is_on(feature, self.answers)
        return value == option.default

    def _set(self, row: _Row) -> _Row:
        option, value = self.options[row.path], self.wanted[row.path]
        if _check(option, row.data) != value:
            row = replace(row, value=toml_literal(value), data=value)
        if row.comment and row.comment == self.rendered.get(row.path):
            space = row.tail[: row.tail.index("#")]
            row = replace(row, tail=f"{space}# {describe(option)}")
        return row

    def _set_table(self, row: _Row) -> _Row | None:
        """A row for a whole table, such as `ema = true` or `ema = {enabled = true}`."""
        given = row.data
        for name in reversed(row.path):
            given = {name: given}
        wanted = {path: value for path, value in self.wanted.items() if self._is_in(path, row.path)}
        if row.path == ("features",):
            for table in self.tables:
                named = isinstance(row.data, dict) and table[-1] in row.data
                if table[0] == "features" and not named and self._is_known_to_be_off(table):
                    wanted = {path: v for path, v in wanted.items() if path[:-1] != table}
        try:
            now = {tuple(key.split(".")): value for key, value in flatten(self.catalog, given)}
        except AnswerError:  # of a feature that is no longer there
            now = {}
        if {path: _check(self.options.get(path), value) for path, value in now.items()} == wanted:
            return row
        if isinstance(row.data, bool) and list(wanted) == [(*row.path, "enabled")]:
            return replace(row, value=toml_literal(next(iter(wanted.values()))))
        if not wanted and row.path[0] == "features":  # {} would turn it on
            return replace(row, value="false") if self._is_owners(row, None) else None
        return replace(row, value=_inline(row.path, wanted))

    def _is_in(self, path: Key, table: Key) -> bool:
        return path[: len(table)] == table

    # rows that are not

    def _is_covered(self, table: Key) -> bool:
        """Whether a row is for the whole table, or for all features."""
        rows = {row.path for row in self.rows if not row.is_header}
        return bool(rows & {table, table[:1]})

    def _may_be_missing(self, table: Key) -> bool:
        """Whether the owner took out a feature, which turns it off where there are others."""
        paths = {row.path[: len(table)] for row in self.rows}
        others = any(row.path[:1] == ("features",) for row in self.rows)
        return others and table not in paths and self._is_known_to_be_off(table)

    def _is_known_to_be_off(self, table: Key) -> bool:
        """Off, and not because it is new, or goes with this task only."""
        key = (*table, "enabled")
        return self.wanted.get(key) is False and key in self.had

    def _add_rows(self, table: Key) -> None:
        before: Key = ()  # the last row that is there, in the order of the schema
        for path, value in self.wanted.items():
            if path[:-1] != table:
                continue
            places = {row.path: at for at, row in enumerate(self.rows) if row.path}
            if path not in places:
                at = self._place_for(path, before, places)
                beside = self.rows[at - 1]
                option = self.options[path]
                name = ".".join(path[len(beside.section) :])
                indent = "" if beside.is_header else beside.indent
                self._insert(at, _Row(indent + _row(option, name, value), path=path), beside)
            before = path

    def _place_for(self, path: Key, before: Key, places: Mapping[Key, int]) -> int:
        """The index of a new row, right behind a row or a header of its table."""
        if before:
            return places[before] + 1
        table = path[:-1]
        if table in places:  # the header
            return places[table] + 1
        siblings = [at for other, at in places.items() if other[:-1] == table]
        if siblings:
            return max(siblings) + 1
        return self._add_header(table) + 1

    def _add_header(self, table: Key) -> int:
        """Add a table behind those that come before it in the schema. Returns its index."""
        at = self._start_for(table)
        header = _Row(f"[{'.'.join(table)}]", section=table, path=table, is_header=True)
        if at < len(self.rows) and not self.rows[at].is_blank:
            self.rows.insert(at, _Row("", end=self.newline))
        beside = self.rows[at - 1] if at else None
        if beside and not beside.is_blank:
            self._insert(at, _Row(""), beside)
            at += 1
        self._insert(at, header, self.rows[at - 1] if at else None)
        return at

    def _start_for(self, table: Key) -> int:
        for earlier in reversed(self.tables[: self.tables.index(table)]):
            places = [at for at, row in enumerate(self.rows) if row.path[: len(earlier)] == earlier]
            if places:
                return self._end_of_section(places[-1])
        return self._end_of_section(-1)

    def _end_of_section(self, at: int) -> int:
        """The index behind the last statement before the next header, and comments below it."""
        last = at
        stop = len(self.rows)
        for number, row in enumerate(self.rows[at + 1 :], start=at + 1):
            if row.is_header:
                stop = number
                break
            if row.path:
                last = number
        end = last + 1
        while end < stop and not self.rows[end].is_blank:
            end += 1
        # a comment right above a header belongs to that
        return end if end == len(self.rows) or end < stop else last + 1

    def _insert(self, at: int, row: _Row, beside: _Row | None) -> None:
        """Add a line below another, which may have been the last of the file."""
        if beside and not beside.end:
            self.rows[at - 1] = replace(beside, end=self.newline)
        section = row.section or (beside.section if beside else ())
        self.rows.insert(at, replace(row, end=self.newline, section=section))


def _check(option: Option | None, value: object) -> Value | None:
    """The value as the option's type, None if it is not allowed."""
    try:
        return check(option, value) if option else None
    except AnswerError:
        return None


def _commented(row: _Row) -> _Row:
    """The row as a comment."""
    head = "".join(f"# {line}" for line in _split(row.text)).removesuffix(row.end)
    return replace(row, head=head, value="", tail="", path=(), is_header=False)


def _inline(table: Key, wanted: Mapping[Key, Value]) -> str:
    """These values as an inline table."""
    parts: dict[str, list[tuple[Key, Value]]] = {}
    for path, value in wanted.items():
        parts.setdefault(path[len(table)], []).append((path, value))
    rows = []
    for name, values in parts.items():
        path, value = values[0]
        inner = (*table, name)
        text = toml_literal(value) if path == inner else _inline(inner, dict(values))
        rows.append(f"{name} = {text}")
    return f"{{ {', '.join(rows)} }}" if rows else "{}"
