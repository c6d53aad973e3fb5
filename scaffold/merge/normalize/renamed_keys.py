"""Follows an owner who renamed keys: `evaluate(..., "valid")` in place of "val".

Base and theirs then have the new key, also as the first part of others (`metrics["val_loss"]`),
and what the owner put between the parts: `f"{name}/loss"` in place of `f"{name}_loss"`.
Only a text is followed that was an argument or a key wherever it was, and is nowhere any more.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from scaffold.merge.diff.expression import Source, read_source
from scaffold.merge.diff.mapping import align
from scaffold.merge.source.parse import nodes_of
from scaffold.merge.source.statement import Rendered, Statement, Statements

_KEY = re.compile(r"[A-Za-z]\w*(?:[/.-]\w+)*")
_JOINED = re.compile(r"""(f["']\{\w+\})([_/.-])(?=[\w{])""")  # the head of a key, and what follows


def follow_keys(base: Statements, ours: Statements, theirs: Statements) -> Rendered:
    """Base and theirs with the owner's keys."""
    table = find_renamed_keys(base, ours)
    joint = _new_joint(base, ours)
    if joint:
        base, theirs = ([_joined(unit, joint[1]) for unit in side] for side in (base, theirs))
        table |= _joined_otherwise(base, theirs, table, joint)
    if not table:
        return list(base), list(theirs)
    used = {part for unit in theirs for key in _texts(unit) for part in (key, _head(key))}
    # a key that the other side has nowhere was edited in what it drops: that is to be seen
    table = {key: new for key, new in table.items() if key in used}
    kept = set().union(*map(_texts, ours))
    old, new = ([_renamed(unit, table, kept) for unit in side] for side in (base, theirs))
    return old, new


def find_renamed_keys(base: Statements, ours: Statements) -> dict[str, str]:
    """Keys that are gone, with those that stand in all of their places."""
    old, own = (set().union(*map(_texts, units)) for units in (base, ours))
    gone, new = old - own, own - old
    if not gone or not new:
        return {}
    side = align(base, ours)
    found: dict[str, set[str]] = {}
    for number, unit in enumerate(base):
        there = side.of(number)
        for key in _texts(unit) & gone:
            found.setdefault(key, set()).update(_replaced(unit, there, key) if there else {""})
    return {
        key: names.copy().pop()
        for key, names in found.items()
        if len(names) == 1 and names <= new and _KEY.fullmatch(key)
    }


def _new_joint(base: Statements, ours: Statements) -> tuple[str, str] | None:
    """What stood between the head and the rest of all composed keys, and what the owner has."""
    old, new = (
        {joint for unit in units if unit.is_code for _, joint in _JOINED.findall(unit.text)}
        for units in (base, ours)
    )
    return (*old, *new) if len(old) == len(new) == 1 and old != new else None


def _joined(unit: Statement, joint: str) -> Statement:
    text = _JOINED.sub(rf"\g<1>{joint}", unit.text.strip()) if unit.is_code else ""
    return unit.saying(text) if text and text != unit.text.strip() else unit


def _joined_otherwise(
    base: Statements, theirs: Statements, table: Mapping[str, str], joint: tuple[str, str]
) -> dict[str, str]:
    """The keys whose heads are arguments, `evaluate(..., "val")`, as they are composed now."""
    keys = set().union(*map(_texts, (*base, *theirs)))
    return {
        key: f"{table.get(head, head)}{joint[1]}{rest}"
        for key in keys
        for head, _, rest in [key.partition(joint[0])]
        if rest and head in keys
    }


def _replaced(unit: Statement, there: Statement, key: str) -> set[str]:
    """What stands in place of a key, if all else of the statement is the same."""
    old, new = _keys(unit), _keys(there)
    if len(old) != len(new):
        return {""}
    pairs = {(one, two) for one, two in zip(old, new, strict=True) if one != two}
    names = {two for one, two in pairs if one == key}
    return names if all(_KEY.fullmatch(two) for two in names) else {""}


def _keys(unit: Statement) -> tuple[str, ...]:
    return _keys_in(unit.text.strip()) if unit.is_code and not unit.is_comment else ()


@lru_cache(maxsize=262_144)
def _keys_in(text: str) -> tuple[str, ...]:
    return tuple(key for _, key in _constants(read_source(text)))


def _head(key: str) -> str:
    """The first part of a key: "val" of "val_loss"."""
    found = re.match(r"\w+?(?=[_/.]|$)", key)
    return found[0] if found else ""


def _texts(unit: Statement) -> set[str]:
    return set(_keys(unit))


def _constants(source: Source | None) -> Iterator[tuple[ast.expr, str]]:
    """The texts of a statement that are arguments of calls or keys of dicts."""
    for node in nodes_of(source.tree) if source else ():
        inner: list[ast.expr | None] = []
        if isinstance(node, ast.Call):
            inner = [*node.args, *(keyword.value for keyword in node.keywords)]
        elif isinstance(node, ast.Subscript):
            inner = [node.slice]
        elif isinstance(node, ast.Dict):
            inner = [*node.keys]
        for part in inner:
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                yield part, part.value


def _renamed(unit: Statement, table: Mapping[str, str], kept: set[str]) -> Statement:
    """A statement with the owner's keys. Texts in `kept` are still there."""
    if not table or not any(key in unit.text for key in table):
        return unit
    source = read_source(unit.text.strip()) if unit.is_code and not unit.is_comment else None
    places = []
    for node, whole in _constants(source):
        for key in dict.fromkeys((whole, _head(whole))):
            if key in table and source and whole not in kept:
                start, end = source.span(node)
                written = source.text[start:end].replace(key, table[key], 1)
                places.append((start, end, written))
                break
    if not places or not source:
        return unit
    text = source.text
    for start, end, written in sorted(places, reverse=True):
        text = text[:start] + written + text[end:]
    return unit.saying(text)
