"""Finds new lines of an update that miss what they are for, because the owner moved it.

`with ema.applied():` goes around saving and testing. If the owner tests before, only half of what
belongs together would be inside. `best_model.load(model)` comes before both.
"""

from collections.abc import Iterator, Mapping, Sequence

from scaffold.merge.diff.mapping import Side, anchor
from scaffold.merge.diff.triple import Hunk, Triple
from scaffold.merge.semantics.effects import effects_of
from scaffold.merge.semantics.flow import bound_in
from scaffold.merge.source.statement import block_of
from scaffold.merge.source.training import puts_in_other_weights


def find_moved_out(triple: Triple) -> Iterator[tuple[Hunk, str]]:
    """The gaps of such lines, each with the reason."""
    moved = _moved(triple)
    for gap, places in enumerate(triple.theirs.inserts if moved else ()):
        for head in places:
            inside = _inside(triple.theirs, head)
            if any(triple.ours.match[number] is not None for number in inside):
                for name in [anchor(triple.base[row])[-1] for row in inside if row in moved][:1]:
                    yield (gap, gap), f"it would not be around {name}, which you moved"
        for name in list(_passed_by(triple, gap, moved))[:1] if places else ():
            yield (gap, gap), f"it would come after {name}, which you moved"


def _moved(triple: Triple) -> dict[int, int]:
    """The statements that the owner moved, by number in the base, with their places now."""
    own = {
        (unit.scope, unit.key): place
        for place, unit in enumerate(triple.ours.units)
        if place not in triple.ours.number_of and not unit.is_comment
    }
    return {
        number: own[unit.scope, unit.key]
        for number, unit in enumerate(triple.base)
        if triple.ours.match[number] is None
        and (unit.scope, unit.key) in own
        and len(anchor(unit)) > 1
    }


def _passed_by(triple: Triple, gap: int, moved: Mapping[int, int]) -> Iterator[str]:
    """What stood below a gap, reads what the new lines set there, and stands above it now."""
    units = triple.theirs.new(gap)
    given = bound_in(units)
    if any(puts_in_other_weights(unit.text) and not unit.is_head for unit in units):
        given.add("model")
    below = next((place for place in triple.ours.match[gap:] if place is not None), 0)
    for number, place in moved.items():
        unit = triple.base[number]
        is_above = number >= gap and place < below and unit.scope == units[0].scope
        if is_above and given & effects_of(unit).reads:
            yield anchor(unit)[-1]


def _inside(side: Side, head: int) -> Sequence[int]:
    """The statements of the base in the block that a new line opens."""
    places = [place for place in block_of(side.units, head) if side.parents[place] == head]
    return [side.number_of[place] for place in places if place in side.number_of]
