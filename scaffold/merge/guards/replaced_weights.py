"""Finds own work on the weights just above a line of an update that puts others in their place.

The owner averages the weights before they are saved, or copies the model to evaluate it: below
`with ema.applied():` or `best_model.load(model)`, that would be without effect.
"""

import ast
from collections.abc import Iterator

from scaffold.merge.diff.mapping import anchor, block_of
from scaffold.merge.diff.triple import Hunk, Triple
from scaffold.merge.semantics.effects import effects_of
from scaffold.merge.source.statement import PYTHON
from scaffold.merge.source.training import puts_in_other_weights, works_on_weights

_NEAR = 3  # statements below, of which one may read what an own line binds


def find_replaced_weights(triple: Triple) -> Iterator[tuple[Hunk, str]]:
    """The gaps of such lines, each with the reason."""
    if triple.kind != PYTHON:
        return
    units = triple.ours.units
    for gap, places in enumerate(triple.theirs.inserts):
        if not any(puts_in_other_weights(triple.theirs.units[place].text) for place in places):
            continue
        below = [triple.ours.of(row) for row in range(gap, min(gap + _NEAR, len(triple.base)))]
        read = set[str]().union(*(effects_of(unit).reads for unit in below if unit))
        for place in triple.ours.inserts[gap]:
            unit = units[place]
            bound = effects_of(unit).binds if isinstance(unit.node, ast.Assign) else set()
            texts = [units[row].text for row in (place, *block_of(units, place))]
            works = any(map(works_on_weights, ("\n".join(texts), *texts)))
            if works and (not bound or bound & read):
                name = anchor(unit)[-1] if len(anchor(unit)) > 1 else "your block"
                yield (gap, gap), f"{name} would not see these weights"
