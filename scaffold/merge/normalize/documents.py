"""Follows an owner who deleted paragraphs of a generated document, or wrote others in their place.

What an update says differently there is not wanted either. Nothing runs a document, so the two
generated versions go without those lines, and there is nothing to resolve.
"""

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
    around = [True, *deleted, True]
    for gap, places in enumerate(new.inserts):
        titled = any(theirs[place].text.startswith("#") for place in places)
        goes_on = all(_goes_on(theirs[place]) for place in places)
        if around[gap] and (around[gap + 1] or goes_on) and any(deleted) and not titled:
            dropped |= set(places)
    kept = [unit for unit, gone in zip(base, deleted, strict=True) if not gone]
    return kept, [unit for place, unit in enumerate(theirs) if place not in dropped]


def _goes_on(unit: Statement) -> bool:
    """Whether a line continues a paragraph. A row of a table or a list does not."""
    return not unit.blanks and unit.text[:1].isalpha()
