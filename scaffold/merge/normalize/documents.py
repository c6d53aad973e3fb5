"""Follows an owner who deleted paragraphs of a generated document, or wrote others in their place.

What an update says differently there is not wanted either. Nothing runs a document, so the two
generated versions go without those lines, and there is nothing to resolve. A new row comes if its
list or table still has others.
"""

from itertools import accumulate

from scaffold.merge.diff.mapping import align
from scaffold.merge.source.statement import Rendered, Statement, Statements

DOCUMENTS = (".md", ".rst")


def follow_deleted(base: Statements, ours: Statements, theirs: Statements) -> Rendered:
    """The pristine and the new document without the lines that the owner deleted."""
    own, new = align(base, ours), align(base, theirs)
    deleted = [place is None for place in own.match]
    dropped = {
        place for gone, place in zip(deleted, new.match, strict=True) if gone and place is not None
    }
    parts = [*accumulate(bool(unit.blanks) for unit in theirs)]
    kept = {parts[place] for place in new.number_of.keys() - dropped}
    around = [True, *deleted, True]
    for gap, places in enumerate(new.inserts):
        titled = any(theirs[place].text.startswith("#") for place in places)
        goes_on = all(_goes_on(theirs[place]) for place in places)
        is_row = any(parts[place] in kept and not theirs[place].margin for place in places)
        goes = goes_on or (around[gap + 1] and not is_row)
        if around[gap] and goes and any(deleted) and not titled:
            dropped |= set(places)
    rest = [unit for unit, gone in zip(base, deleted, strict=True) if not gone]
    return rest, [unit for place, unit in enumerate(theirs) if place not in dropped]


def _goes_on(unit: Statement) -> bool:
    """Whether a line continues a paragraph. A row of a table or a list does not."""
    return not unit.blanks and unit.text[:1].isalpha()
