"""Finds new lines that would read a value which the other side no longer computes there.

Names alone don't tell: `metrics` is bound in several places, and a line that reads the metrics of
the test reads those of the last epoch if the test was deleted.
"""

import ast
from collections.abc import Iterator

from scaffold.merge.diff.deletions import moved_and_gone
from scaffold.merge.diff.mapping import Side
from scaffold.merge.diff.triple import Hunk, Triple, called_in
from scaffold.merge.semantics.effects import effects_of, read_effects
from scaffold.merge.semantics.flow import Sources
from scaffold.merge.source.parse import nodes_of, parse
from scaffold.merge.source.statement import Statement, Statements, block_of, write_units

_NEAR = 3  # statements below a new one, in which the owner may wrap what it binds


def find_stale_reads(triple: Triple) -> Iterator[tuple[Hunk, str]]:
    """The gaps of such lines, each with the reason."""
    yield from _other_items(triple)
    yield from _in_own_loops(triple)
    yield from _wrapped(triple)
    sides = triple.theirs, triple.ours
    found = [Sources(side.units, _changed_by_calls(side.units)) for side in sides]
    for (one, other), sources in zip((sides, sides[::-1]), (found, found[::-1]), strict=True):
        for gap in range(len(one.inserts)):
            name = _stale_name(one, other, gap, *sources)
            if name:
                yield (gap, gap), f"{name} would have a different value here"


def _other_items(triple: Triple) -> Iterator[tuple[Hunk, str]]:
    """The loops whose variables are other parts of an item now, and the owner's lines read."""
    own = triple.ours
    for number, unit in enumerate(triple.base):
        there, place = triple.theirs.of(number), own.match[number]
        if there is None or place is None or there.key == unit.key:
            continue
        before, after = _loop_names(unit), _loop_names(there)
        moved = {name for name in before if after.get(name, before[name]) != before[name]}
        block = block_of(own.units, place) if moved else ()
        for row in block:
            name = min(moved & effects_of(own.units[row]).reads, default="")
            if name and row not in own.number_of:
                yield (number, number + 1), f"{name} would have a different value here"
                break


def _in_own_loops(triple: Triple) -> Iterator[tuple[Hunk, str]]:
    """The lines that go, and that the owner does for each of several: `for row in rows`."""
    own = triple.ours
    kept = [(place, (row, row + 1)) for place, row in own.number_of.items()]
    going: list[tuple[int, Hunk]] = [row for row in kept if not triple.theirs.of(row[1][0])]
    going += [(place, (own.gap_of[place],) * 2) for place in moved_and_gone(triple)[0]]
    for place, hunk in going:
        for head in own.heads(place):
            is_own = head not in own.number_of and isinstance(own.units[head].node, ast.For)
            names = effects_of(own.units[head]).binds if is_own else set()
            if used := names & effects_of(own.units[place]).reads:
                yield hunk, f"{min(used)} is one of several here"


def _wrapped(triple: Triple) -> Iterator[tuple[Hunk, str]]:
    """New lines such as `data = Augmented(data)` above one in which the owner wraps that, too.

    The owner's object would hide the methods of the new one.
    """
    brought = [
        (gap, triple.theirs.units[place], triple.ours.of(number), number)
        for gap, places in enumerate(triple.theirs.inserts)
        for place in places
        for number in range(gap, min(gap + _NEAR, len(triple.base)))
    ]
    for gap, unit, ours, number in brought:
        before = triple.base[number]
        if ours is None or before.scope != unit.scope or ours.key == before.key:
            continue
        new = called_in(ours) - called_in(before)
        for name in effects_of(unit).binds & _callers(unit).keys():
            around = _callers(ours).get(name)
            if around in new and called_in(before) <= called_in(ours):
                yield (gap, gap), f"{around}(...) would be around the new {name}"


def _callers(unit: Statement) -> dict[str, str]:
    """The names that a statement passes to calls as first arguments, with what is called."""
    return {
        node.args[0].id: ast.unparse(node.func)
        for node in (nodes_of(unit.node) if unit.node else ())
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Name)
    }


def _loop_names(unit: Statement) -> dict[str, int]:
    """The variables of a loop, with their places in what it unpacks."""
    node = unit.node
    if not isinstance(node, ast.For) or not isinstance(node.target, ast.Tuple):
        return {}
    return {row.id: n for n, row in enumerate(node.target.elts) if isinstance(row, ast.Name)}


def _stale_name(one: Side, other: Side, gap: int, sources: Sources, other_sources: Sources) -> str:
    for place in one.inserts[gap]:
        unit = one.units[place]
        if unit.is_comment or not unit.scope:
            continue
        for name in sorted(effects_of(unit).reads):
            source = sources.above(place, name)
            number = None if source is None else one.number_of.get(source)
            if source is None or number is None or other.match[number] is not None:
                continue
            there = next((row for row in other.match[gap:] if row is not None), len(other.units))
            found = other_sources.above(there, name)
            if found is None and sources.above(source, name) is None:
                continue  # there is no other value: it would be undefined
            if _reads_kept_keys(one, other, place, name):
                continue
            new = (other.units[row] for places in other.inserts[number : gap + 1] for row in places)
            if any(_keys_set(unit, name) for unit in new):
                continue
            if not _is_replaced(one, other, source, found, name):
                return name
    return ""


def _reads_kept_keys(one: Side, other: Side, place: int, name: str) -> bool:
    """Whether a line reads only values of a dictionary that are still set where they were, or
    only sets some."""
    keys = _keys_read(one.units[place], name)
    return keys is not None and all(_is_kept(one, other, place, name, key) for key in keys)


def _is_kept(one: Side, other: Side, place: int, name: str, key: str) -> bool:
    """Whether the other side has the line that sets a value of a dictionary."""
    for row in range(place - 1, -1, -1):
        unit = one.units[row]
        if unit.scope == one.units[place].scope and key in _keys_set(unit, name):
            number = one.number_of.get(row)
            return number is None or other.match[number] is not None
    return False


def _keys_read(unit: Statement, name: str) -> set[str] | None:
    """The keys in `name["key"]`. None, if the name is read in any other way."""
    nodes = nodes_of(unit.node) if unit.node else []
    reads = [row for row in nodes if isinstance(row, ast.Name) and row.id == name]
    parts = [row for row in nodes if isinstance(row, ast.Subscript) and row.value in reads]
    keys = [(row.slice.value, row.ctx) for row in parts if isinstance(row.slice, ast.Constant)]
    texts = [(key, ctx) for key, ctx in keys if isinstance(key, str)]
    if not len(reads) == len(parts) == len(texts):
        return None
    return {key for key, ctx in texts if isinstance(ctx, ast.Load)}


def _keys_set(unit: Statement, name: str) -> set[str]:
    """The keys that a statement gives to a dictionary: all of it, or `name["key"] = ...`."""
    node = unit.node
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return set()
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    nodes: list[ast.expr | None] = [
        row.slice
        for row in targets
        if isinstance(row, ast.Subscript) and ast.unparse(row.value) == name
    ]
    if isinstance(node.value, ast.Dict) and name in map(ast.unparse, targets):
        nodes += node.value.keys
    return {
        row.value
        for row in nodes
        if row and isinstance(row, ast.Constant) and isinstance(row.value, str)
    }


def _is_replaced(one: Side, other: Side, source: int, found: int | None, name: str) -> bool:
    """Whether a side that deleted a line gives its name a value further down, or in a new line,
    which may also be in place of a line that did not bind it.

    In a block around that of the deleted line, it is another value: one for the whole loop.
    """
    if found is None:
        return False
    known = other.number_of.get(found)
    if known is not None:
        if known > one.number_of[source]:
            return True
        there = one.match[known]
        if there is None or name in effects_of(one.units[there]).binds:
            return False
    return _depth_of_values(other.units[found]) >= _depth_of_values(one.units[source])


def _depth_of_values(unit: Statement) -> int:
    """The depth at which the names have values that it binds: `for` binds them in its block."""
    return unit.depth + unit.is_head


def _changed_by_calls(units: Statements) -> dict[str, set[str]]:
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
