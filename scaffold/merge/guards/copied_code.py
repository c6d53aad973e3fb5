"""Finds code that the owner copied, and of which an update changes only the original.

A step that was put into both branches of an `if` gets new lines in one of them.
"""

import ast
from collections.abc import Iterator
from itertools import pairwise

from scaffold.merge.diff.deletions import is_same
from scaffold.merge.diff.mapping import Side, anchor, block_of
from scaffold.merge.diff.triple import Hunk, Triple
from scaffold.merge.source.statement import PYTHON, Statement


def find_copied_code(triple: Triple) -> Iterator[tuple[Hunk, str]]:
    """The changes of such code, each with the reason."""
    added = triple.ours.added if triple.kind == PYTHON else []
    if not added:
        return
    known = {(unit.scope, unit.key) for unit in added} | {
        (unit.scope, value) for unit in added if (value := _computed(unit))
    }
    in_branches = set(_in_branches(triple))
    for number, unit in enumerate(triple.base):
        there = triple.theirs.of(number)
        if triple.ours.match[number] is None or (there and there.key == unit.key):
            continue
        copied = (unit.scope, unit.key) in known or (unit.scope, _computed(unit)) in known
        copied = (copied and bool(_computed(unit))) or number in in_branches
        if copied and (there or not _is_moved(triple, unit)):
            yield (number, number + 1), f"you also have {_name(unit)} elsewhere"
    pairs = set(_neighbours(triple))
    for gap, places in enumerate(triple.theirs.inserts):
        if not 0 < gap < len(triple.base) or not places:
            continue
        above, below = triple.base[gap - 1], triple.base[gap]
        if (above.scope, above.key, below.key) in pairs and _computed(above):
            yield (gap, gap), f"you also have {_name(above)} elsewhere"
        elif near := in_branches & {gap - 1, gap}:
            yield (gap, gap), f"you also have {_name(triple.base[min(near)])} in another branch"


def _in_branches(triple: Triple) -> Iterator[int]:
    """Statements that the owner put into a branch of a new condition, and like it into another."""
    side = triple.ours
    for number, place in enumerate(side.match):
        head = None if place is None else side.parents[place]
        if place is None or head is None or head in side.number_of:
            continue
        purpose = anchor(side.units[place])
        if len(purpose) > 1 and any(
            row not in side.number_of and anchor(side.units[row]) == purpose
            for other in _other_branches(side, head)
            for row in block_of(side.units, other)
        ):
            yield number


def _other_branches(side: Side, head: int) -> Iterator[int]:
    """The heads of the other branches of a condition."""
    units = side.units
    for step in (-1, 1):
        last, place = head, head + step
        while 0 <= place < len(units) and units[place].depth >= units[head].depth:
            if units[place].depth == units[head].depth and not units[place].is_comment:
                if not (units[last] if step < 0 else units[place]).continues:
                    break
                last = place
                yield place
            place += step


def _neighbours(triple: Triple) -> Iterator[tuple[str, str, str]]:
    """The owner's new statements, with the new ones below them."""
    units = triple.ours.units
    for places in triple.ours.inserts:
        for place, below in pairwise(places):
            if below == place + 1:
                yield units[place].scope, units[place].key, units[below].key


def _is_moved(triple: Triple, unit: Statement) -> bool:
    return any(is_same(unit, row) for row in triple.theirs.units)


def _computed(unit: Statement) -> str:
    """What a statement calls or computes."""
    value = getattr(unit.node, "value", None)
    is_plain = isinstance(unit.node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr)
    nodes = ast.walk(value) if is_plain and value else ()
    found = any(isinstance(node, ast.Call | ast.BinOp) for node in nodes)
    return ast.dump(value) if found and value else ""


def _name(unit: Statement) -> str:
    return anchor(unit)[-1]
