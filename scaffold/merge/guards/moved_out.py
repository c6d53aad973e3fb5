"""Finds lines of an update that would reach only half of what belongs together.

`with ema.applied():` goes around saving and testing. If the owner tests before, the test is not in
the block. If the owner averages the weights above it, or copies the model, it has other weights.
"""

import ast
from collections.abc import Iterator, Sequence

from scaffold.merge.diff.mapping import Side, anchor
from scaffold.merge.diff.triple import Hunk, Triple
from scaffold.merge.semantics.effects import effects_of
from scaffold.merge.source.statement import PYTHON
from scaffold.merge.source.training import puts_in_other_weights, works_on_weights


def find_moved_out(triple: Triple) -> Iterator[tuple[Hunk, str]]:
    """The gaps with the heads of such blocks, each with the reason."""
    if triple.kind != PYTHON:
        return
    own = {
        (unit.scope, unit.key): place
        for place, unit in enumerate(triple.ours.units)
        if place not in triple.ours.number_of and not unit.is_comment
    }
    yield from _of_other_weights(triple)
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


def _of_other_weights(triple: Triple) -> Iterator[tuple[Hunk, str]]:
    """Own lines that work on the weights just before those of an update take their place."""
    for gap, places in enumerate(triple.theirs.inserts):
        if not any(puts_in_other_weights(triple.theirs.units[place].text) for place in places):
            continue
        below = [triple.ours.of(number) for number in range(gap, min(gap + 3, len(triple.base)))]
        read = set[str]().union(*(effects_of(unit).reads for unit in below if unit))
        for place in triple.ours.inserts[gap]:
            unit, *rest = triple.ours.units[place:]
            depths = [row.depth > unit.depth for row in rest] + [False]
            body = rest[: depths.index(False)]
            bound = effects_of(unit).binds if isinstance(unit.node, ast.Assign) else set()
            text = "\n".join(row.text for row in (unit, *body))
            if works_on_weights(text) and (not bound or bound & read):
                yield (gap, gap), f"{anchor(unit)[-1]} would not see these weights"


def _inside(side: Side, head: int) -> Sequence[int]:
    """The statements of the base in the block that a new line opens."""
    found = []
    for place in range(head + 1, len(side.units)):
        if side.units[place].depth <= side.units[head].depth:
            break
        if side.parents[place] == head and place in side.number_of:
            found.append(side.number_of[place])
    return found
