"""Finds gradient accumulation of the owner's that a new loop refuses, or does once more.

`Accelerator(gradient_accumulation_steps=4)` makes a step from four batches. The complete loop
counts a step for each batch, and its check_environment() stops a run that makes steps otherwise.
What stands beside `optimizer.step()` runs for each batch in `with accelerator.accumulate(model):`.
`if number % 4 == 0: optimizer.step()` makes no step below `with accelerator.accumulate(model):`
if the steps of that are others.
"""

import ast
from collections.abc import Iterator

from scaffold.merge.diff.depth import new_head
from scaffold.merge.diff.triple import Hunk, Triple
from scaffold.merge.source.statement import Statements
from scaffold.merge.source.training import (
    accumulates,
    checks_environment,
    counts_batches,
    is_done_once,
    sets_accumulation,
    steps_optimizer,
)

_REASON = "it refuses the gradient_accumulation_steps that you give Accelerator"
_REPEATED = "you already make a step from several batches"
_COUNTED = "it counts batches, and a step is made from several"
_PER_BATCH = "it would run for each batch, not for each step"


def find_refused_accumulation(triple: Triple) -> Iterator[tuple[Hunk, str]]:
    """The gaps of such checks, each with the reason."""
    if not _sets(triple.ours.units) or _sets(triple.base):
        return
    for gap, places in enumerate(triple.theirs.inserts):
        if any(checks_environment(triple.theirs.units[place].text) for place in places):
            yield (gap, gap), _REASON


def find_repeated_accumulation(triple: Triple) -> Iterator[tuple[Hunk, str]]:
    """The steps that the owner makes from several batches, as the update does, too."""
    for number, unit in enumerate(triple.base):
        sides = triple.ours.of(number), triple.theirs.of(number)
        if not _sets([unit]) and all(side and _sets([side]) for side in sides):
            yield (number, number + 1), _REPEATED
    if not any(accumulates(unit.text) for unit in triple.theirs.added):
        return
    for number, unit in enumerate(triple.base):
        head = new_head(triple, number) if steps_optimizer(unit.text) else None
        node = None if head is None else triple.ours.units[head].node
        if isinstance(node, ast.If) and any(
            isinstance(row, ast.Mod) for row in ast.walk(node.test)
        ):
            yield (number, number + 1), _REPEATED


def find_lines_per_batch(triple: Triple) -> Iterator[tuple[Hunk, str]]:
    """The other side's new lines beside a step that the owner put into a window of batches."""
    if not any(accumulates(unit.text) for unit in triple.ours.added):
        return
    for gap, places in enumerate(triple.theirs.inserts):
        beside = range(max(gap - 1, 0), min(gap + 1, len(triple.base)))
        steps = (number for number in beside if is_done_once(triple.base[number].text))
        if places and any(_is_in_own_window(triple, number) for number in steps):
            yield (gap, gap), _PER_BATCH


def find_counted_batches(triple: Triple) -> Iterator[tuple[Hunk, str]]:
    """The owner's counts of steps, one for each batch, where the update makes one from several."""
    if not any(accumulates(unit.text) for unit in triple.theirs.added):
        return
    for number, unit in enumerate(triple.base):
        there = triple.ours.of(number)
        if there and there.key != unit.key and counts_batches(there.text):
            yield (number, number + 1), _COUNTED
    for gap, places in enumerate(triple.ours.inserts):
        if any(counts_batches(triple.ours.units[place].text) for place in places):
            yield (gap, gap), _COUNTED


def _is_in_own_window(triple: Triple, number: int) -> bool:
    side, place = triple.ours, triple.ours.match[number]
    heads = side.heads(place) if place is not None else ()
    return any(row not in side.number_of and accumulates(side.units[row].text) for row in heads)


def _sets(units: Statements) -> bool:
    return any(sets_accumulation(unit.text) for unit in units if not unit.is_comment)
