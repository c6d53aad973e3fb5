"""Follows an owner who moved definitions, imports, methods or fields within a file.

The pristine and the new file are put into the owner's order before they are compared, so that an
update changes a function where it is now.
"""

import re
from collections import Counter
from collections.abc import Container, Iterator, Sequence

from scaffold.merge.diff.mapping import anchor
from scaffold.merge.semantics.effects import effects_of
from scaffold.merge.source.imports import imports_of
from scaffold.merge.source.statement import Rendered, Statement, Statements

Chunk = list[Statement]
Part = tuple[str, Chunk]
_NAMED = ("ClassDef", "FunctionDef", "AsyncFunctionDef", "bind")
Order = dict[str, list[str]]  # names in the owner's order, by definition; "" stands for the file


def follow_order(base: Statements, ours: Statements, theirs: Statements) -> Rendered:
    """Base and theirs in the owner's order."""
    order = find_order(base, ours)
    theirs = _with_common(base, ours, in_order(theirs, order), _DEFINITIONS)
    return in_order(base, order), _with_common_fields(base, ours, theirs)


def _with_common_fields(base: Statements, ours: Statements, theirs: Statements) -> list[Statement]:
    """Theirs with the fields of a class that both sides add where the owner has them."""
    old, own = dict(_bodies(base)), dict(_bodies(ours))
    out: list[Statement] = []
    for name, chunk in chunks(theirs):
        body = [unit for unit in chunk if unit.depth > 0]
        if name and name in old.keys() & own.keys():
            head = chunk[: len(chunk) - len(body)]
            chunk = [*head, *_with_common(old[name], own[name], body, ("bind ",))]
        out += chunk
    return out


def _with_common(
    base: Statements, ours: Statements, theirs: Statements, kinds: tuple[str, ...]
) -> list[Statement]:
    """Theirs with each definition that both sides add behind what it stands behind in ours."""
    known, own, parts = ([*chunks(units)] for units in (base, ours, theirs))
    old, names, new = ([name for name, _ in side] for side in (known, own, parts))
    both = (_once(names) & _once(new)) - {*old}
    for name in [row for row in names if row in both and row.startswith(kinds)]:
        above = [
            next((row for row in reversed(side[: side.index(name)]) if row in old), "")
            for side in (names, new)
        ]
        if above[0] == above[1] or above[0] not in ("", *new):
            continue
        part = parts.pop(new.index(name))
        new.remove(name)
        place = new.index(above[0]) + 1 if above[0] else 0
        parts.insert(place, part)
        new.insert(place, name)
        old.append(name)  # the next one stands behind it
    return [unit for _, chunk in parts for unit in chunk]


_DEFINITIONS = ("ClassDef ", "FunctionDef ", "AsyncFunctionDef ")


def find_order(base: Statements, ours: Statements) -> Order:
    """Where the owner's order differs from the base."""
    found: Order = {}
    old, new = dict(_bodies(base)), dict(_bodies(ours))
    for scope in old.keys() & new.keys():
        before, after = ([name for name, _ in chunks(units)] for units in (old[scope], new[scope]))
        shared = _once(before) & _once(after)
        order, was = ([name for name in names if name in shared] for names in (after, before))
        if order != was:
            found[scope] = order
    return found


def in_order(units: Statements, order: Order) -> list[Statement]:
    """The units of a file in the owner's order. What the owner does not have stays behind what
    it stood behind."""
    if not order:
        return list(units)
    out: list[Statement] = []
    for name, chunk in _reorder(units, order.get("", [])):
        if name in order:
            head = next(n for n, unit in enumerate(chunk) if unit.depth == 0 and unit.is_head)
            parts = _reorder(chunk[head + 1 :], order[name])
            chunk = [*chunk[: head + 1], *(unit for _, part in parts for unit in part)]
        out += chunk
    return out


def _once(names: Sequence[str]) -> set[str]:
    return {name for name, count in Counter(names).items() if count == 1}


def _reorder(units: Statements, names: Sequence[str]) -> list[Part]:
    place = {name: number for number, name in enumerate(names)}
    groups: list[tuple[int, list[Part]]] = [(-1, [])]
    before = list(chunks(units))
    for name, chunk in before:
        if name in place:
            groups.append((place[name], []))
        groups[-1][1].append((name, chunk))
    parts = [part for _, group in sorted(groups, key=lambda group: group[0]) for part in group]
    return _below_sources(before, parts, place)


def _below_sources(
    before: Sequence[Part], parts: Sequence[Part], known: Container[str]
) -> list[Part]:
    """The parts, with each new line or definition below the definitions that it uses, and below the
    imports that it stood below."""
    out = list(parts)
    for number, part in enumerate(before):
        line = _head(part)
        is_block = line is not _last_code(part[1]) and not part[0].startswith(_NAMED)
        if part[0] in known or is_block or imports_of(line):
            continue
        used = {f"{kind} {name}" for name in effects_of(line).reads for kind in _NAMED}
        needed = [row for row in before[:number] if imports_of(_head(row))]
        needed += [row for row in before if row[0] in used]
        place = out.index(part)
        last = max((out.index(row) for row in needed), default=place)
        if last > place:
            out.insert(last, out.pop(place))
    return out


def _head(part: Part) -> Statement:
    """The line that a statement begins with, below its comments and decorators."""
    return next(
        (unit for unit in part[1] if not unit.is_comment and not unit.is_decorator), part[1][0]
    )


def _bodies(units: Statements) -> Iterator[tuple[str, list[Statement]]]:
    """The file and the content of each of its classes, by their names."""
    yield "", list(units)
    for name, chunk in chunks(units):
        if name.startswith("ClassDef "):
            yield name, [unit for unit in chunk if unit.depth > 0]


def chunks(units: Statements) -> Iterator[Part]:
    """Statements with everything inside them, each with its name and the comments above it."""
    if not units:
        return
    level = min(unit.depth for unit in units)
    name, chunk, comments = "", Chunk(), Chunk()
    for unit in units:
        if unit.is_comment and unit.depth == level:
            comments.append(unit)
        elif unit.depth == level and not _goes_on(chunk, unit):
            if chunk:
                yield name, chunk
            name, chunk, comments = _name(unit), [*comments, unit], []
        else:
            last = _last_code(chunk)
            if last is not None and last.depth == level and last.is_decorator:
                name = _name(unit)
            chunk += [*comments, unit]
            comments = []
    yield name, [*chunk, *comments]


def _goes_on(chunk: Chunk, unit: Statement) -> bool:
    """Whether a unit continues the statement before it, such as `else` or what is decorated."""
    if unit.continues:
        return True
    last = _last_code(chunk)
    return last is not None and last.depth == unit.depth and last.is_decorator


def _last_code(chunk: Chunk) -> Statement | None:
    return next((unit for unit in reversed(chunk) if not unit.is_comment), None)


def _name(unit: Statement) -> str:
    purpose = anchor(unit)
    return " ".join(purpose) if len(purpose) > 1 else re.sub(r"\s+", " ", unit.key)
