"""Puts new answers into a `scaffold.toml` that its owner has edited, with tomlkit.

tomlkit keeps a text to the byte: each table is a list of rows (its `body`) with their comments,
blank lines and indents. New rows are inserted into these lists. `table[key] = value` would put them
below a comment that belongs to the next header.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Comment, Item, Key, Table, Trivia, Whitespace

from scaffold.answers.catalog import Catalog, Value
from scaffold.answers.check import check, find_option
from scaffold.answers.read import flatten
from scaffold.answers.resolve import applies, default_answers, is_on, resolve
from scaffold.answers.settings import (
    describe,
    stated,
    toml_literal,
    write_all_settings,
    write_settings,
)
from scaffold.errors import AnswerError, ScaffoldError

Path = tuple[str, ...]  # of a row or a table: ("training", "epochs")
Body = list[tuple[Key | None, Item]]
FEATURES = ("features",)


def rewrite_settings(
    catalog: Catalog,
    old_text: str,
    answers: Mapping[str, Value],
    previous: Mapping[str, Value],
    rendered: str | None = None,
) -> str:
    """The owner's file with new answers in it.

    `previous` are the answers of the last render, and `rendered` is the file as it was then, if
    known. An unedited file becomes what `write_settings` writes. In any other, values change in
    their rows, and missing rows are added to their tables. Rows without an effect are removed; a
    row that its owner commented on stays if it does no harm, and otherwise becomes a comment.

    Raises ScaffoldError if the text is not valid TOML.
    """
    if rendered is None:
        rendered = write_settings(catalog, {**default_answers(catalog, previous), **previous})
    if old_text == rendered:
        return write_settings(catalog, answers)
    try:
        tomllib.loads(old_text)
    except ValueError as error:
        raise ScaffoldError(f"scaffold.toml: is not valid TOML: {error}.") from None

    try:
        text = _Rewrite(catalog, old_text, answers, rendered).text()
    except TOMLKitError:
        text = ""
    if not _holds(catalog, text, answers):
        raise ScaffoldError(
            "scaffold.toml: can't be updated. Write each setting on a line of its own below the "
            "header of its table, such as [training], and leave none out."
        )
    return text


def _holds(catalog: Catalog, text: str, answers: Mapping[str, Value]) -> bool:
    """Whether all answers that have an effect follow from a text."""
    options = catalog.settings
    try:
        data = tomllib.loads(text)
        given = {key: check(options[key], value) for key, value in flatten(catalog, data)}
        off = [feature.switch_key for feature in catalog.features.values() if not feature.switch]
        if "features" in data:
            given = {**{key: key.split(".")[1] in data["features"] for key in off}, **given}
        needed = stated(catalog, answers)
        found = {**dict.fromkeys(off, False), **default_answers(catalog, given), **given}
    except (ValueError, KeyError, AnswerError):
        return False
    return all(
        found[key] == answers[key] if key in given or key in needed else True
        for key, option in options.items()
        if applies(catalog, option, answers)
    )


@dataclass(frozen=True)
class _Place:
    """The place of a row or a header: `body[at]`. `section` are the rows below the last header."""

    key: Key
    item: Item
    body: Body
    at: int
    section: Body


def _places(document: tomlkit.TOMLDocument) -> dict[Path, _Place]:
    """All rows and headers, in the order of the text."""
    return dict(_places_in(document.body, document.body, ()))


def _places_in(body: Body, section: Body, path: Path) -> Iterator[tuple[Path, _Place]]:
    for at, (key, item) in enumerate(body):
        if key is None:
            continue
        here = (*path, key.key)
        below = item.value.body if isinstance(item, Table) and not key.is_dotted() else section
        if not isinstance(item, Table) or not item.is_super_table():
            yield here, _Place(key, item, body, at, below)
        if isinstance(item, Table):
            yield from _places_in(item.value.body, below, here)


def _read(text: str, newline: str) -> tuple[dict[Path, _Place], dict[str, Any]]:
    """The rows and headers of a new file, without blank lines between its tables, and its data."""
    document = tomlkit.parse(text.replace("\n\n", "\n").replace("\n", newline))
    return _places(document), document.unwrap()


class _Rewrite:
    """Puts answers into the owner's text.

    `rendered` is the text as it was before its owner edited it. `new` is what a new file says:
    these rows are added. `every` has a row for each setting that has an effect: these may stay.
    """

    def __init__(
        self, catalog: Catalog, old: str, answers: Mapping[str, Value], rendered: str
    ) -> None:
        self.catalog = catalog
        self.old = old
        self.newline = "\r\n" if old.count("\r\n") * 2 > old.count("\n") else "\n"
        self.new, _ = _read(write_settings(catalog, answers), self.newline)
        self.every, self.data = _read(write_all_settings(catalog, answers), self.newline)
        self.tables = [path for path, place in self.new.items() if isinstance(place.item, Table)]
        self.rows = {path: at for path, at in self.new.items() if path not in self.tables}
        switches = (
            path for path in self.every if path[:1] == FEATURES and path[2:] == ("enabled",)
        )
        # in a table that its owner wrote
        self.rows |= {path: self.every[path] for path in switches if path not in self.new}
        self.rendered = _places(tomlkit.parse(rendered))
        self.ours = {f"# {describe(option)}" for option in catalog.settings.values()}
        self.ours |= {place.item.trivia.comment for place in self.rendered.values()} - {""}

    def text(self) -> str:
        """The owner's text with the answers in it."""
        bare = self.old.rstrip("\r\n")
        # the last table ends with a blank line, like the others
        document = tomlkit.parse(bare + 2 * self.newline)
        document.body[:] = self._rows(document.body, (), "")
        document = tomlkit.parse(document.as_string())  # removed tables have left white space
        left = {path[:2] for path in _places(document) if path[:1] == FEATURES and path[1:]}
        tables = [*self.tables, *(left & self.every.keys() - {*self.tables})]
        missing = [table for table in tables if not self._add_rows(document, table)]
        sections = {}  # the place of each table's last row
        for path, place in _places(document).items():
            sections[path[:1]] = sections[path[:2]] = place.section
        for table in reversed(missing):  # each goes above those that come later
            earlier = [t for t in self.tables[: self.tables.index(table)] if t in sections]
            section = sections[earlier[-1]] if earlier else document.body
            _insert_table(self.new[table], section, section is document.body, self.newline)
        return document.as_string().rstrip("\r\n") + self.old[len(bare) :]

    # existing rows

    def _rows(self, body: Body, path: Path, prefix: str) -> Body:
        """The rows with the new answers; a dropped row becomes a comment if its owner wrote one.

        `prefix` is what their keys begin with in the text, such as `ema.`.
        """
        rows: Body = []
        for key, item in body:
            here = (*path, key.key) if key else path
            if key is None:
                rows.append((key, item))
            elif isinstance(item, Table):
                inner = f"{prefix}{key.as_string()}." if key.is_dotted() else ""
                item.value.body[:] = self._rows(item.value.body, here, inner)
                rows += self._table(here, key, item)
            elif self._is_dropped(here, item):
                continue
            elif here in self.every or here == FEATURES:
                rows.append((key, self._set(here, item)))
            elif item.trivia.comment not in {"", "#", *self.ours}:
                text = f"{prefix}{key.as_string()}{key.sep}{item.as_string()}"
                does_no_harm = self._is_accepted(".".join(here), item)
                rows.append((key, item) if does_no_harm else (None, _as_comment(text, item)))
        return rows

    def _table(self, path: Path, key: Key, table: Table) -> Body:
        """The table, or the comments that are left: an empty table would turn its feature on."""
        below = table.value.body
        is_header = not table.is_super_table()
        is_needed = is_header and path in {*self.tables, FEATURES}
        is_own = table.trivia.comment or path not in self.rendered
        if is_header and is_own and path in self.every:
            is_needed = is_needed or path[:1] != FEATURES  # where an empty table says nothing
        if is_needed or any(key for key, _ in below):
            return [(key, table)]
        text = "".join(item.as_string() for _, item in below)
        if is_header and (table.trivia.comment or text.strip()):
            text = _as_comment(f"[{table.display_name}]", table).as_string() + text
        # tomlkit writes a header [features] above a Comment between the tables of features
        return [(None, tomlkit.ws(text))] if text.strip() else []

    def _is_accepted(self, key: str, item: Item) -> bool:
        """Whether a row without an effect can stay: in a feature that is off, or as a default."""
        rows = {path: at for path, at in self.every.items() if not isinstance(at.item, Table)}
        given = {".".join(path): place.item.unwrap() for path, place in rows.items()}
        try:
            option = find_option(self.catalog, key)
            answers = resolve(self.catalog, {**given, option.key: item.unwrap()})
        except AnswerError:
            return False
        feature = self.catalog.features.get(option.feature)
        return not feature or not is_on(feature, answers)

    def _set(self, path: Path, item: Item) -> Item:
        """The row with its answer."""
        wanted: Any = self.data
        for name in path:
            wanted = wanted[name]
        if isinstance(wanted, dict):
            return self._set_table(path, item, wanted)
        if item.unwrap() != wanted:
            item = _with_value(item, wanted)
        if item.trivia.comment in self.ours:
            item.trivia.comment = self.every[path].item.trivia.comment
        return item

    def _set_table(self, path: Path, item: Item, wanted: dict[str, Any]) -> Item:
        """A row for a whole table, such as `ema = true` or `ema = {enabled = true}`."""
        given = item.unwrap()
        if path == FEATURES and isinstance(given, dict):
            given = {name: _as_table(value) for name, value in given.items()}
        wanted = _few(self.new, path, _as_table(given), wanted)
        if _as_table(given) == wanted:
            return item
        is_switch = isinstance(given, bool) and list(wanted) == ["enabled"]
        return _with_value(item, not given if is_switch else wanted)

    def _is_dropped(self, path: Path, item: Item) -> bool:
        """Whether a row that nobody edited said what is a default now."""
        if path in self.new or path not in self.every or path not in self.rendered:
            return False
        before, now = self.rendered[path].item.unwrap(), self.every[path].item.unwrap()
        is_edited = item.unwrap() != before or item.trivia.comment not in {"", *self.ours}
        return bool(not is_edited and before != now)

    # missing rows

    def _add_rows(self, document: tomlkit.TOMLDocument, table: Path) -> bool:
        """Add what is missing of a table. Returns False if all of it is."""
        there = _places(document)
        if any(path in there and not there[path].item.is_table() for path in (table, table[:1])):
            return True  # a row for all of it
        beside = [place for path, place in there.items() if path[: len(table)] == table]
        if not beside:
            return False
        before = there.get(table, beside[-1])
        for path, place in self.rows.items():
            if path[:-1] != table:
                continue
            if path not in there:
                _insert(place, before)
                there = _places(document)
            before = there[path]
        return True


def _few(new: Mapping[Path, _Place], path: Path, given: Any, wanted: dict[str, Any]) -> Any:
    """Of the rows of a table, those that its owner wrote, and those that a new file has."""
    given = given if isinstance(given, dict) else {}
    return {
        name: (
            _few(new, (*path, name), given.get(name), value) if isinstance(value, dict) else value
        )
        for name, value in wanted.items()
        if name in given or (*path, name) in new or (name, value) == ("enabled", False)
    }


def _insert(new: _Place, before: _Place) -> None:
    """Add a row below another, or below a header."""
    if isinstance(before.item, Table):
        before.section.insert(0, (new.key, new.item))
    else:
        new.item.trivia.indent = before.item.trivia.indent
        before.body.insert(before.at + 1, (new.key, new.item))


def _insert_table(new: _Place, section: Body, is_first: bool, newline: str) -> None:
    """Add a table at the end of a section, between blank lines."""
    at = _end(section)
    rows: Body = [(new.key, new.item)]
    blank = (None, tomlkit.ws(newline))
    if at or not is_first:
        rows.insert(0, blank)
    if at == len(section) or not isinstance(section[at][1], Whitespace):
        rows.append(blank)
    section[at:at] = rows


def _end(section: Body) -> int:
    """The index after the last row of a section and its comments.

    A comment right above the next header belongs to that header.
    """
    last = 0
    for at, (key, item) in enumerate(section, start=1):
        if key and isinstance(item, Table) and not key.is_dotted():
            break
        last = at if key else last
    end = last
    while end < len(section) and isinstance(section[end][1], Comment):
        end += 1
    return end if end < len(section) and isinstance(section[end][1], Whitespace) else last


def _as_table(value: Any) -> Any:
    return {"enabled": value} if isinstance(value, bool) else value


def _with_value(item: Item, value: Any) -> Item:
    """Another value with the same comment."""
    new = tomlkit.value(_inline(value))
    for name, text in vars(item.trivia).items():
        setattr(new.trivia, name, text)
    return new


def _as_comment(text: str, item: Item) -> Comment:
    """A row as a comment, in each of its lines."""
    indent, space, comment, end = astuple(item.trivia)
    lines = f"{indent}{text}{space}{comment}".split("\n")
    return Comment(Trivia(comment="\n".join(f"# {line}" for line in lines), trail=end))


def _inline(value: Any) -> str:
    """A value, with spaces inside inline tables."""
    if not isinstance(value, dict):
        return toml_literal(value)
    rows = ", ".join(f"{name} = {_inline(inner)}" for name, inner in value.items())
    return f"{{ {rows} }}" if rows else "{}"
