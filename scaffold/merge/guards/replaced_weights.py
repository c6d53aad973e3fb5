"""Finds own work on the weights near a line of an update that puts others in their place.

The owner averages the weights before they are saved, or copies the model to evaluate it: below
`with ema.applied():` or `best_model.load(model)`, that would be without effect. What trains or
saves a checkpoint would do so with other weights in that block. And what saves the best weights
below it would save others than those that had the score.
"""

import ast
import re
from collections.abc import Iterator

from scaffold.merge.diff.depth import depth_change, gets_other_weights, needs_own_weights
from scaffold.merge.diff.mapping import anchor
from scaffold.merge.diff.triple import Hunk, Triple
from scaffold.merge.semantics.effects import effects_of
from scaffold.merge.semantics.flow import bound_in, read_in
from scaffold.merge.source.statement import Statement, block_of
from scaffold.merge.source.training import (
    puts_in_other_weights,
    saves_weights,
    works_on_weights,
)

_NEAR = 3  # statements below, of which one may read what an own line binds


def find_replaced_weights(triple: Triple) -> Iterator[tuple[Hunk, str]]:
    """The gaps of such lines, each with the reason."""
    yield from _inside(triple)
    yield from _saved_below(triple)
    units = triple.ours.units
    for gap in range(len(triple.base) + 1):
        puts = [unit for unit in triple.theirs.new(gap) if puts_in_other_weights(unit.text)]
        levels, scopes = [unit.depth for unit in puts], {unit.scope for unit in puts}
        if not levels:
            continue
        near = range(gap, min(gap + _NEAR, len(triple.base)))
        below = [(triple.base[row], own) for row in near if (own := triple.ours.of(row))]
        for unit, own in below:
            other = re.escape(unit.text.strip()).replace("model", r"[\w.]+")
            replaced = "model" in effects_of(unit).reads - effects_of(own).reads
            if replaced and re.fullmatch(other, own.text.strip()):
                yield (gap, gap), f"{_name(own)} would not use these weights"
                break
        read = read_in(own for _, own in below)
        for place in triple.ours.inserts[gap]:
            unit = units[place]
            if unit.depth > max(levels) or unit.scope not in scopes:
                continue  # in a loop that ends above it, or in another function
            bound = effects_of(unit).binds if isinstance(unit.node, ast.Assign) else set()
            block = [row for row in block_of(units, place) if row not in triple.ours.number_of]
            texts = [units[row].text for row in (place, *block)]
            works = any(map(works_on_weights, ("\n".join(texts), *texts)))
            if works and (not bound or bound & read):
                yield (gap, gap), f"{_name(unit)} would not see these weights"


def _inside(triple: Triple) -> Iterator[tuple[Hunk, str]]:
    """The owner's lines that would come into a block with other weights, and work on their own."""
    for gap, places in enumerate(triple.ours.inserts):
        for place in places if gets_other_weights(triple, gap) else ():
            if needs_own_weights(triple, place) and depth_change(
                triple, triple.ours, triple.theirs, place, gap
            ):
                name = _name(triple.ours.units[place])
                yield (gap, gap), f"{name} would work on these weights"


def _saved_below(triple: Triple) -> Iterator[tuple[Hunk, str]]:
    """The owner's lines that save weights by a score of others: `if metrics["loss"] < best:`."""
    ours, theirs = triple.ours, triple.theirs
    for head in (row for places in theirs.inserts for row in places):
        block = block_of(theirs.units, head)
        last = max((theirs.number_of.get(row, -1) for row in block), default=-1)
        if last < 0 or not puts_in_other_weights(theirs.units[head].text):
            continue
        scores = bound_in(theirs.units[row] for row in block)
        for gap in range(last + 1, len(triple.base) + 1):
            if triple.base[gap - 1].scope != triple.base[last].scope:
                break
            for place in ours.inserts[gap]:
                unit, inner = ours.units[place], block_of(ours.units, place)
                saves = any(saves_weights(ours.units[row].text) for row in (place, *inner))
                by_score = bool(scores & effects_of(unit).reads)
                if by_score and saves and not depth_change(triple, ours, theirs, place, gap):
                    yield (gap, gap), f"{_name(unit)} would not save these weights"


def _name(unit: Statement) -> str:
    return anchor(unit)[-1] if len(anchor(unit)) > 1 else "your block"
