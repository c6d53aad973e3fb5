"""Finds blocks of an update around statements of which the owner moved some elsewhere.

`with ema.applied():` goes around saving and testing. If the owner tests before, only half of what
belongs together would be inside.
"""

from collections.abc import Iterator, Sequence

from scaffold.merge.diff.mapping import Side, anchor, block_of
from scaffold.merge.diff.triple import Hunk, Triple
from scaffold.merge.source.statement import PYTHON


def find_moved_out(triple: Triple) -> Iterator[tuple[Hunk, str]]:
    """The gaps with the heads of such blocks, each with the reason."""
    if triple.kind != PYTHON:
        return
    own = {
        (unit.scope, unit.key): place
        for place, unit in enumerate(triple.ours.units)
        if place not in triple.ours.number_of and not unit.is_comment
    }
    for gap, places in enumerate(triple.theirs.inserts if own else ()):
        for head in places:
            inside = _inside(triple.theirs, head)
            kept = [number for number in inside if triple.ours.match[number] is not None]
            for number in inside if kept else ():
                unit = triple.base[number]
                moved = triple.ours.match[number] is None and (unit.scope, unit.key) in own
                if moved and len(anchor(unit)) > 1:
                    yield (gap, gap), f"it would not be around {anchor(unit)[-1]}, which you moved"
                    break


def _inside(side: Side, head: int) -> Sequence[int]:
    """The statements of the base in the block that a new line opens."""
    places = [place for place in block_of(side.units, head) if side.parents[place] == head]
    return [side.number_of[place] for place in places if place in side.number_of]
