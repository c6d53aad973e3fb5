"""Moves generated statements to where their owner moved them: into functions, methods and classes.

The pristine and the new file get the owner's definitions, filled with their own statements, so
that an update changes a statement where it is now. What a part needs and returns is passed on as
its owner does it: as attributes, or as parameters and what is returned.
"""

from scaffold.merge.diff.mapping import align
from scaffold.merge.normalize.extracted.conversions import move_conversions
from scaffold.merge.normalize.extracted.kept import move_kept
from scaffold.merge.normalize.extracted.moved import Moved, find_attributes, with_new_attributes
from scaffold.merge.normalize.extracted.parts import find_parts
from scaffold.merge.normalize.extracted.signature import binds_outer_names, passed_on
from scaffold.merge.normalize.extracted.spans import find_spans
from scaffold.merge.semantics.flow import functions
from scaffold.merge.source.parse import is_python
from scaffold.merge.source.statement import Rendered, Statements, write_units
from scaffold.merge.source.style import NO_RENAMES, Renames, rename_units


def follow_extracted(
    base: Statements,
    ours: Statements,
    theirs: Statements,
    indent: str,
    renames: Renames = NO_RENAMES,
) -> Rendered | None:
    """Base and theirs with the owner's definitions and names. None if nothing was moved."""
    base, theirs = move_kept(base, ours, theirs)
    base, theirs = move_conversions(base, ours, theirs)
    named = base if renames == NO_RENAMES else rename_units(base, renames)
    parts = find_parts(base, ours, named)
    if not parts:
        return None
    held = functions(theirs).keys()
    if any(part.target.name in held - functions(base).keys() for part in parts):
        return None  # the update moves it there, too
    there = held & functions(named).keys()  # a renamed one is no part
    parts = [part for part in parts if part.function.name in there]
    spans = find_spans(align(base, theirs), base, ours, parts)
    parts = [part for part in parts if part in spans]
    if not parts:
        return None
    before = {part: (part.start, part.end) for part in parts}
    old = Moved(named, base, ours, parts, before, renames, indent)
    old.attributes = find_attributes(old.of, ours, parts)
    new = Moved(rename_units(theirs, renames), theirs, ours, parts, spans, renames, indent)
    new.attributes = with_new_attributes((old.of, new.of), parts, old.attributes, spans)
    if any(binds_outer_names(old, new, part) for part in parts):
        return None
    new.instead = passed_on(old, new)
    found = old.units(), new.units()
    return found if all(is_python(write_units(units)) for units in found) else None
