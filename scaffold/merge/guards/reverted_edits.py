"""Finds where an update would undo an edit. Deleting a statement is an edit, too.

An update may move a statement that the owner deleted, or moved elsewhere, or write something else
in its place. Merged as text, both would be done, and the statement would be back, or run twice.
Or it deletes a statement that the owner moved, which would stay.
"""

import ast
from collections.abc import Iterator

from scaffold.merge.diff.deletions import moved_and_gone, stays_deleted
from scaffold.merge.diff.mapping import alike, anchor
from scaffold.merge.diff.triple import Hunk, Triple
from scaffold.merge.semantics.effects import can_be_repeated
from scaffold.merge.source.parse import nodes_of
from scaffold.merge.source.statement import Statement

_MOVED = 1.5  # the likeness from which a statement with the same role is the same one


def find_reverted_edits(triple: Triple) -> Iterator[tuple[Hunk, str]]:
    """The gaps into which the other side puts what the owner took away, or has written already."""
    gone = [
        unit
        for number, unit in enumerate(triple.base)
        if triple.ours.match[number] is None
        and triple.theirs.match[number] is None
        and unit.is_code
        and not unit.is_comment
    ]
    own = triple.ours
    for gap, places in enumerate(triple.theirs.inserts):
        for place in places:
            unit = triple.theirs.units[place]
            if unit.is_comment or not unit.is_code or not _is_telling(unit):
                continue
            if own.added_as(unit):
                continue  # the owner wrote it there too
            if stays_deleted(triple, place):
                continue
            is_new = (unit.scope, unit.key) not in triple.places
            if (is_new and own.added_like(unit)) or any(_is_moved(old, unit) for old in gone):
                yield (gap, gap), ""
    yield from _written_twice(triple)
    _, kept = moved_and_gone(triple)
    for gap, places in enumerate(triple.ours.inserts):
        for place in kept.intersection(places):
            yield (gap, gap), f"{anchor(triple.ours.units[place])[-1]} goes, which you moved"


def _written_twice(triple: Triple) -> Iterator[tuple[Hunk, str]]:
    """The statements that one side changes into what the other one wrote beside them."""
    for one, other in ((triple.ours, triple.theirs), (triple.theirs, triple.ours)):
        new = {(unit.scope, unit.key) for unit in one.added} - triple.places.keys()
        for number, unit in enumerate(triple.base if new else ()):
            kept, changed = one.of(number), other.of(number)
            if not kept or not changed or kept.key != unit.key:
                continue
            if (changed.scope, changed.key) in new and _computes(changed):
                yield (number, number + 1), ""


def _computes(unit: Statement) -> bool:
    """Whether a statement calls or computes something."""
    nodes = nodes_of(unit.node) if unit.node else ()
    return any(isinstance(node, ast.Call | ast.BinOp) for node in nodes)


def _is_telling(unit: Statement) -> bool:
    """Whether a statement binds or calls something that has a name."""
    purpose = anchor(unit)
    named = len(purpose) > 1 and purpose[0] not in ("Import", "ImportFrom", "Return")
    return named and not can_be_repeated(unit)


def _is_moved(old: Statement, new: Statement) -> bool:
    return old.scope == new.scope and alike(old, new) >= _MOVED
