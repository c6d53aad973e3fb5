"""Follows an owner who wrote the body of a function at the top of the file, as in a notebook.

The pristine and the new file then have it there, too: its statements are compared where they are.
"""

from collections.abc import Sequence
from dataclasses import replace

from scaffold.merge.diff.mapping import block_of
from scaffold.merge.semantics.flow import functions
from scaffold.merge.source.statement import Statement

_FEW = 5  # statements of a function that have to be there at least
_MOST = 0.7  # and the share of all


def follow_unrolled(
    base: Sequence[Statement], ours: Sequence[Statement], theirs: Sequence[Statement]
) -> tuple[list[Statement], list[Statement]]:
    """The pristine and the new file without the functions that the owner dissolved."""
    top = {unit.key for unit in ours if not unit.scope}
    here = functions(ours)
    for name, function in functions(base).items():
        inside = [unit.key for unit in base[function.head + 1 : function.end]]
        if "." in name or name in here or name not in functions(theirs):
            continue
        if sum(key in top for key in inside) >= max(_FEW, _MOST * len(inside)):
            base, theirs = _without_head(base, name), _without_head(theirs, name)
    return list(base), list(theirs)


def _without_head(units: Sequence[Statement], name: str) -> list[Statement]:
    """The statements with the body of a function in its place."""
    head = functions(units)[name].head
    inside = block_of(units, head)
    body = [
        replace(unit.at(unit.depth - 1, "    "), scope=unit.scope.partition(".")[2])
        for unit in units[inside.start : inside.stop]
    ]
    return [*units[:head], *body, *units[inside.stop :]]
