"""Whether a merge left everything in the blocks that its sides had put it into."""

from collections.abc import Sequence

from scaffold.merge.three import Three, parent
from scaffold.merge.units import Unit


def find_misplaced(three: Three, units: Sequence[Unit]) -> list[int]:
    """Where units are in other blocks than their sides have put them, by number in the base."""
    found = []
    dropped = _dropped(three, units)
    blocks: list[tuple[int, str]] = []  # around what comes next
    last = 0
    for unit in units:
        if unit.is_comment or not unit.origin:
            continue
        while blocks and blocks[-1][0] >= unit.depth:
            blocks.pop()
        around = {head for _, head in blocks}
        mark, place = unit.origin[0], int(unit.origin[1:])
        if mark == "b":
            last = place
            wanted = _heads(three, "m", three.mine.match[place])
            wanted |= _heads(three, "t", three.theirs.match[place])
            fits = wanted - dropped == around
        else:  # the other side may have put a new block around it
            wanted = _heads(three, mark, place) - dropped
            fits = wanted <= around and not any(head[0] in "b" + mark for head in around - wanted)
        if not fits:
            found += [last, last + 1]
        blocks.append((unit.depth, unit.origin))
    return found


def _dropped(three: Three, units: Sequence[Unit]) -> set[str]:
    """What is in one of the sides and not in the merge."""
    there = {unit.origin for unit in units}
    every = {f"b{number}" for number in range(len(three.base))}
    every |= {f"m{number}" for number in range(len(three.mine.units))}
    every |= {f"t{number}" for number in range(len(three.theirs.units))}
    return every - there


def _heads(three: Three, mark: str, place: int | None) -> set[str]:
    """The origins of the heads of the blocks around a unit, in one side."""
    side = three.mine if mark == "m" else three.theirs
    heads = set()
    while place is not None and (place := parent(side.units, place)) is not None:
        known = side.number_of.get(place)
        heads.add(f"{mark}{place}" if known is None else f"b{known}")
    return heads
