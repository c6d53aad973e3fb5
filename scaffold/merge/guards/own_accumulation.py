"""Finds gradient accumulation of the owner's that a new loop refuses, or does once more.

`Accelerator(gradient_accumulation_steps=4)` makes a step from four batches. The complete loop
counts a step for each batch, and its check_environment() stops a run that makes steps otherwise.
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
    sets_accumulation,
    steps_optimizer,
)

_REASON = "it refuses the gradient_accumulation_steps that you give Accelerator"
_REPEATED = "you already make a step from several batches"


def find_refused_accumulation(triple: Triple) -> Iterator[tuple[Hunk, str]]:
    """The gaps of such checks, each with the reason."""
    if not _sets(triple.ours.units) or _sets(triple.base):
        return
    for gap, places in enumerate(triple.theirs.inserts):
        if any(checks_environment(triple.theirs.units[place].text) for place in places):
            yield (gap, gap), _REASON


def find_repeated_accumulation(triple: Triple) -> Iterator[tuple[Hunk, str]]:
    """The steps that the owner makes from several batches, as the update does, too."""
    if not any(accumulates(unit.text) for unit in triple.theirs.added):
        return
    for number, unit in enumerate(triple.base):
        head = new_head(triple, number) if steps_optimizer(unit.text) else None
        node = None if head is None else triple.ours.units[head].node
        if isinstance(node, ast.If) and any(
            isinstance(row, ast.Mod) for row in ast.walk(node.test)
        ):
            yield (number, number + 1), _REPEATED


def _sets(units: Statements) -> bool:
    return any(sets_accumulation(unit.text) for unit in units if not unit.is_comment)
