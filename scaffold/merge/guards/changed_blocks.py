"""Checks that a merge leaves every unit in the blocks that its sides put it into."""

import ast

from scaffold.merge.diff.triple import Triple
from scaffold.merge.source.parse import LOOPS
from scaffold.merge.source.statement import Statement, Statements


def find_changed_blocks(triple: Triple, units: Statements) -> list[int]:
    """Where units are in different blocks than in their sides, by number in the base.

    Or where only new units of the other side are left in a new block of the owner's.
    """
    found = []
    inside: dict[str, list[tuple[str, int]]] = {}  # new blocks of the owner's: sides, and where
    dropped = _dropped(triple, units)
    blocks: list[Statement] = []  # around what comes next
    last = 0
    for unit in units:
        if unit.is_comment or not unit.origin:
            continue
        while blocks and blocks[-1].depth >= unit.depth:
            blocks.pop()
        around = {head.origin for head in blocks}
        mark, place = unit.origin[0], int(unit.origin[1:])
        if mark == "b":
            last = place
            ours = _heads(triple, "m", triple.ours.match[place])
            theirs = _heads(triple, "t", triple.theirs.match[place])
            # what one side moved out of a block of the base is not in it
            wanted = ours & theirs | (ours ^ theirs) - _base_heads(triple, place)
            fits = wanted - dropped == around
        else:  # the other side may have put a new block around it
            wanted = _heads(triple, mark, place) - dropped
            extra = around - wanted - _heads_of_block(triple, mark, place)
            fits = wanted <= around and not any(head[0] in "b" + mark for head in extra)
            if mark == "t" and isinstance(unit.node, ast.Break | ast.Continue):
                heads = [triple.theirs.units[row] for row in triple.theirs.heads(place)]
                fits = fits and _loops(heads, unit.scope) <= _loops(blocks, unit.scope)
        if not fits:
            found += [last, last + 1]
        for head in around:
            if head[0] == "m":
                inside.setdefault(head, []).append((mark, last))
        blocks.append(unit)
    for rows in inside.values():
        if all(mark == "t" for mark, _ in rows):
            found += [number for _, last in rows for number in (last, last + 1)]
    return found


def _loops(heads: Statements, scope: str) -> int:
    """How many loops of a function are among the heads of blocks: `break` leaves the last one."""
    return sum(isinstance(head.node, LOOPS) and head.scope == scope for head in heads)


def _dropped(triple: Triple, units: Statements) -> set[str]:
    """What one of the sides has and the merge does not."""
    there = {unit.origin for unit in units}
    every = {f"b{number}" for number in range(len(triple.base))}
    every |= {f"m{number}" for number in range(len(triple.ours.units))}
    every |= {f"t{number}" for number in range(len(triple.theirs.units))}
    return every - there


def _base_heads(triple: Triple, place: int | None) -> set[str]:
    heads = set()
    while place is not None and (place := triple.parents[place]) is not None:
        heads.add(f"b{place}")
    return heads


def _heads(triple: Triple, mark: str, place: int | None) -> set[str]:
    """The origins of the heads of the blocks around a unit, in one side."""
    side = triple.ours if mark == "m" else triple.theirs
    return {triple.origin(side, head) for head in side.heads(place)}


def _heads_of_block(triple: Triple, mark: str, place: int) -> set[str]:
    """The heads around the block of a new unit of one side, as the other side has that block."""
    sides = {"m": triple.ours, "t": triple.theirs}
    one, there = sides.pop(mark), *sides
    block = next((one.number_of[row] for row in one.heads(place) if row in one.number_of), None)
    return set() if block is None else _heads(triple, there, sides[there].match[block])
