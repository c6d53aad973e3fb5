"""Finds gradient accumulation of the owner's that a new loop refuses.

`Accelerator(gradient_accumulation_steps=4)` makes a step from four batches. The complete loop
counts a step for each batch, and its check_environment() stops a run that makes steps otherwise.
"""

from collections.abc import Iterator

from scaffold.merge.diff.triple import Hunk, Triple
from scaffold.merge.source.statement import Statements
from scaffold.merge.source.training import checks_environment, sets_accumulation

_REASON = "it refuses the gradient_accumulation_steps that you give Accelerator"


def find_refused_accumulation(triple: Triple) -> Iterator[tuple[Hunk, str]]:
    """The gaps of such checks, each with the reason."""
    if not _sets(triple.ours.units) or _sets(triple.base):
        return
    for gap, places in enumerate(triple.theirs.inserts):
        if any(checks_environment(triple.theirs.units[place].text) for place in places):
            yield (gap, gap), _REASON


def _sets(units: Statements) -> bool:
    return any(sets_accumulation(unit.text) for unit in units if not unit.is_comment)
