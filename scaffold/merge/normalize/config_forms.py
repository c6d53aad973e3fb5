"""Follows an owner who keeps the settings in another form than the generated class Config.

The pristine and the new file get the owner's form, with a row for each of their fields: so a new
field becomes an argument of a parser, a constant, a keyword, a key of a dict or of a file.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from scaffold.merge.model import OpenFile, kind_of, open_file
from scaffold.merge.normalize.config_rows import (
    FORMS,
    Field,
    Rows,
    as_json,
    fields_of,
    find_rows,
    statement,
    unit_of,
)
from scaffold.merge.normalize.order import chunks
from scaffold.merge.semantics.imports import mended
from scaffold.merge.source.imports import uses_module
from scaffold.merge.source.statement import PYTHON, Statement, Statements, split, write_units
from scaffold.merge.source.training import CONFIG
from scaffold.merge.source.versions import Versions

_FILES = (".py", ".yaml", ".yml", ".json")
_CONFIG = f"ClassDef {CONFIG}"


@dataclass(frozen=True)
class Block:
    """The owner's lines that hold the settings, and which of them are their rows.

    `inner` is the number of the statement of which they are lines, if they are.
    """

    units: Statements
    rows: Rows
    inner: int | None = None


def follow_settings(files: Sequence[OpenFile], project: Versions) -> list[OpenFile]:
    """The files, and those of the owner's that hold the settings."""
    more: list[OpenFile] = []
    for file in files:
        if file.kind != PYTHON:
            continue
        sides = [split(text, PYTHON) for text in file.texts]
        fields = [fields_of(units) for units in sides]
        if fields[1] or not fields[0] or not fields[2] or fields[0] == fields[2]:
            continue
        there = {
            path: text
            for path, text in project.ours.items()
            if path.endswith(_FILES) and path not in project.names and _is_read(path, file.texts[1])
        }
        found = {path: list(find_blocks(path, text, fields[0])) for path, text in there.items()}
        own = list(find_blocks(file.path, file.texts[1], fields[0]))
        if not own and not any(found.values()):
            continue
        followed = [
            _opened(path, there[path], blocks, fields[0], fields[2])
            for path, blocks in found.items()
            if blocks
        ]
        if None in followed:
            continue  # a new row would break the file: the class Config is a conflict
        file.texts = (
            _instead(file, sides[0], own, fields[0], fields[0]),
            file.texts[1],
            _instead(file, sides[2], own, fields[0], fields[2]),
        )
        more += filter(None, followed)
    return [*files, *more]


def _is_read(path: str, text: str) -> bool:
    """Whether a script names a file: as it is, as a module, or as hydra does."""
    place = PurePosixPath(path)
    name, stem = re.escape(place.name), re.escape(place.stem)
    return uses_module(text, str(place)) or bool(
        re.search(rf"[\"'/]{name}[\"']|config_name=[\"']{stem}\b", text)
    )


def find_blocks(path: str, text: str, fields: Sequence[Field]) -> Iterator[Block]:
    """All blocks of rows in a file."""
    kind = kind_of(path)
    units = split(text, kind)
    if kind != PYTHON:
        forms = (as_json,) if path.endswith(".json") else FORMS
        if rows := find_rows([unit.text.strip() for unit in units], fields, forms):
            yield Block(units, rows)
        return
    whole = [statement(unit) for unit in units]
    if rows := find_rows(whole, fields):
        yield Block(units, rows)
    for number, unit in enumerate(units):
        if len(unit.lines) <= len(fields) // 2 or unit.key.startswith("text "):
            continue
        if rows := find_rows(unit.lines, fields):
            yield Block(units, rows, number)


def _opened(
    path: str, text: str, blocks: Sequence[Block], old: Sequence[Field], new: Sequence[Field]
) -> OpenFile | None:
    """A file of the owner's with the rows of both versions. None if it can't be read then."""
    file = open_file(path, path, text, text, text)
    base, theirs = (_whole(file, blocks, old, fields) for fields in (old, new))
    file.texts = base, file.texts[1], theirs
    return file if _can_be_read(path, theirs) else None


def _can_be_read(path: str, text: str) -> bool:
    """Whether a file of JSON is one; of others, the merge finds it out."""
    try:
        return not path.endswith(".json") or bool(json.loads(text))
    except ValueError:
        return False


def _whole(
    file: OpenFile, blocks: Sequence[Block], old: Sequence[Field], new: Sequence[Field]
) -> str:
    """A file of the owner's with rows for these fields."""
    units = split(file.texts[1], file.kind)
    changed = _changed(units, blocks, old, new)
    return write_units([unit for number in range(len(units)) for unit in changed[number]])


def _changed(
    units: Statements, blocks: Sequence[Block], old: Sequence[Field], new: Sequence[Field]
) -> dict[int, list[Statement]]:
    """What stands in place of each unit of a file, with rows for these fields."""
    changed = {number: [unit] for number, unit in enumerate(units)}
    for block in blocks:
        if block.inner is None:
            rows = [statement(u) if u.is_code else u.text.strip() for u in units]
            first = units[block.rows.start]
            for number in range(block.rows.start, block.rows.end):
                changed[number] = []
            changed[block.rows.start] = [
                _row(units, block.rows, field, text, first)
                for field, text in _written(rows, block.rows, old, new)
            ]
            head = changed[block.rows.start][0]
            changed[block.rows.start][0] = replace(head, blanks=first.blanks)
        else:
            unit = units[block.inner]
            start, end = block.rows.start, block.rows.end
            lines = [text for _, text in _written(unit.lines, block.rows, old, new)]
            text = "\n".join([*unit.lines[:start], *lines, *unit.lines[end:]])
            whole = unit_of(text.removeprefix(unit.margin), unit)
            changed[block.inner] = [replace(whole, blanks=unit.blanks)]
    return changed


def _row(units: Statements, rows: Rows, field: Field, text: str, first: Statement) -> Statement:
    """A row: the owner's unit, if it says the same."""
    place = rows.places.get(field.name)
    if place is not None and statement(units[place]) == text:
        return replace(units[place], blanks=0)
    return unit_of(text, first)


def _written(
    rows: Sequence[str], found: Rows, old: Sequence[Field], new: Sequence[Field]
) -> Iterator[tuple[Field, str]]:
    """The rows of these fields, in the owner's way."""
    was = {field.name: field for field in old}
    for field in new:
        place = found.places.get(field.name)
        if place is not None:
            yield field, found.write(field, rows[place], was[field.name])
        else:
            yield field, found.pattern.fill(field)


def _instead(
    file: OpenFile,
    side: Statements,
    blocks: Sequence[Block],
    old: Sequence[Field],
    new: Sequence[Field],
) -> str:
    """A generated file with the owner's form in place of the class Config."""
    own = split(file.texts[1], PYTHON)
    changed = _changed(own, blocks, old, new)
    form = [unit for number in _held(own, blocks) for unit in changed[number]]
    out: list[Statement] = []
    for name, chunk in chunks(side):
        if name == _CONFIG:
            out += form
        else:
            out += chunk
    before = write_units(side)
    return mended(write_units(out), before, (file.texts[1], before))


def _held(own: Statements, blocks: Sequence[Block]) -> list[int]:
    """The owner's lines that belong to the form: definitions and statements with rows in them."""
    found: set[int] = set()
    for block in blocks:
        if block.inner is None:
            found |= set(range(block.rows.start, block.rows.end))
        else:
            found.add(block.inner)
    number = 0
    for name, chunk in chunks(own):
        here = set(range(number, number + len(chunk)))
        if here & found and re.match(r"(Async)?FunctionDef |ClassDef ", name):
            found |= here
        number += len(chunk)
    return sorted(found)
