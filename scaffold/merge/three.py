"""Three versions of one text, aligned: the input of a merge."""

from collections.abc import Sequence
from dataclasses import dataclass

from scaffold.merge.align import Side
from scaffold.merge.statement import MergeLines
from scaffold.merge.units import Unit

# Units of the base from, to, with the gaps in front of them: a gap alone where both are the same.
# One that reaches beyond the last unit has the gap at the end of the file in it.
Region = tuple[int, int]


@dataclass
class Three:
    base: Sequence[Unit]
    mine: Side
    theirs: Side
    kind: str
    merge_lines: MergeLines  # for docstrings
    union: bool  # whether lines of text that both sides insert in one place may both stay

    def opens_for_next(self, side: Side, gap: int) -> bool:
        """Whether new lines end with the head of a block around the next unit."""
        after = side.of(gap) if gap < len(self.base) else None
        places = side.inserts[gap]
        return bool(places) and after is not None and after.depth > side.units[places[-1]].depth


def parent(units: Sequence[Unit], place: int) -> int | None:
    """The head of the block that a unit is in."""
    for before in range(place - 1, -1, -1):
        if units[before].depth < units[place].depth and not units[before].is_comment:
            return before
    return None


def contains(units: Sequence[Unit], others: Sequence[Unit]) -> bool:
    """Whether the units contain all the others, in their order."""
    rest = iter(unit.key for unit in units)
    return all(other.key in rest for other in others)
