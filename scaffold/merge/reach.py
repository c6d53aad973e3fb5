"""Finds new lines that would read a value which the other side no longer computes there.

Names alone don't tell: `metrics` is bound in several places, and a line that reads the metrics of
the test reads those of the last epoch if the test was deleted.
"""

import ast
from collections.abc import Iterator, Sequence

from scaffold.merge.align import Side
from scaffold.merge.commute import effects_of, read_effects
from scaffold.merge.sources import Sources
from scaffold.merge.syntax import parse
from scaffold.merge.three import Region, Three
from scaffold.merge.units import PYTHON, Unit
from scaffold.merge.write import write_units


def find_stale(three: Three) -> Iterator[tuple[Region, str]]:
    """The gaps of such lines, each with the reason."""
    if three.kind != PYTHON:
        return
    for one, other in ((three.theirs, three.mine), (three.mine, three.theirs)):
        sources = Sources(one.units, _changed_by_calls(one.units))
        for gap, places in enumerate(one.inserts):
            name = _stale_name(three, one, other, gap, places, sources)
            if name:
                yield (gap, gap), f"{name} would not be what it was made for"


def _stale_name(
    three: Three, one: Side, other: Side, gap: int, places: Sequence[int], sources: Sources
) -> str:
    for place in places:
        unit = one.units[place]
        if unit.is_comment or not unit.scope:
            continue
        for name in sorted(effects_of(unit.text.strip()).reads):
            source = sources.above(place, name)
            number = None if source is None else one.number_of.get(source)
            if source is None or number is None or other.match[number] is not None:
                continue
            if sources.above(source, name) is None:
                continue  # there is no other value: it would be undefined
            if not _is_replaced(three, other, number, gap, name, unit.scope):
                return name
    return ""


def _is_replaced(three: Three, side: Side, number: int, gap: int, name: str, scope: str) -> bool:
    """Whether a side that deleted a line wrote another one, up to a gap, that binds the name."""
    start = number
    while start > 0 and side.match[start - 1] is None:
        start -= 1
    new = [side.units[place] for row in range(start, gap + 1) for place in side.inserts[row]]
    kept = [side.of(row) for row in range(number + 1, min(gap, len(three.base)))]
    return any(
        unit.scope == scope and name in effects_of(unit.text.strip()).binds
        for unit in [*new, *(unit for unit in kept if unit)]
        if not unit.is_comment
    )


def _changed_by_calls(units: Sequence[Unit]) -> dict[str, set[str]]:
    """The names of a file that each of its functions changes when it is called."""
    try:
        body = parse(write_units(units)).body
    except SyntaxError:
        return {}
    found = {}
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            effects = read_effects(ast.Module(node.body, []), ())
            own = {row.arg for row in (*node.args.args, *node.args.kwonlyargs)}
            found[node.name] = effects.changes - effects.binds - own
    return found
