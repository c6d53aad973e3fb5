"""Finds names that an update brings and the owner has already given to something else."""

import ast
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from scaffold.merge.diff.commute import is_set_apart
from scaffold.merge.diff.hunks import mentions, their_changes
from scaffold.merge.diff.triple import Hunk, Triple
from scaffold.merge.semantics.effects import effects_of
from scaffold.merge.source.parse import nodes_of
from scaffold.merge.source.statement import Statements


@dataclass
class Names:
    """What a function, or a file outside of its functions, does with names."""

    binds: dict[str, set[str]] = field(default_factory=dict)  # by which statements
    uses: set[str] = field(default_factory=set)


def read_names(units: Statements) -> dict[str, Names]:
    """By the qualified name of the function; "" is the file."""
    found = {"": Names()}
    for unit in units:
        if unit.is_comment:
            continue
        held, effects = found.setdefault(unit.scope, Names()), effects_of(unit)
        held.uses |= effects.reads
        node = unit.node
        imported = {}
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = getattr(node, "module", "")
            imported = {
                (a.asname or a.name).split(".")[0]: f"{module} {a.name}" for a in node.names
            }
        for name in effects.binds:
            held.binds.setdefault(name, set()).add(imported.get(name, unit.key))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inner = found.setdefault(unit.defined or unit.scope, Names())
            for row in (part for part in nodes_of(node.args) if isinstance(part, ast.arg)):
                inner.binds.setdefault(row.arg, set()).add(f"parameter {row.arg}")
    return found


def find_name_clashes(triple: Triple) -> Iterator[tuple[Hunk, str]]:
    """The hunks that bring a name which the owner has already given to something else."""
    for name, apart in _clashes(triple).items():
        changes = their_changes(triple)
        hunks = [row for row in changes if mentions(triple, row, name, apart=apart)] or changes
        for hunk in [row for row in hunks if _is_for_same(triple, row, name)] or hunks:
            yield hunk, f"you already use the name {name}"


def _is_for_same(triple: Triple, hunk: Hunk, name: str) -> bool:
    """Whether both sides set a name only in this hunk, for one new line that they have in common,
    such as `for batch in bar:`. Whichever of the two is kept, the other uses of it are right."""
    known, sides = {unit.key for unit in triple.base}, (triple.ours, triple.theirs)
    ours, theirs = (
        {unit.key for unit in side.units if name in effects_of(unit).reads} for side in sides
    )
    return bool(ours & theirs - known) and all(
        hunk[0] <= side.number_of.get(place, side.gap_of.get(place, -1)) <= hunk[1]
        for side in sides
        for place, unit in enumerate(side.units)
        if name in effects_of(unit).binds
    )


def _clashes(triple: Triple) -> Mapping[str, Collection[str]]:
    """Names that both sides have newly bound, to different things, where each sees the other's.

    Each with the functions that have a variable of this name: a clash outside is none for them.
    """
    base, ours, theirs = triple.base, triple.ours.units, triple.theirs.units
    if not _newly_bound(base, ours) & _newly_bound(base, theirs):
        return {}
    old, own, new = map(read_names, (base, ours, theirs))
    nothing = Names()
    taken: dict[str, set[str]] = {}
    for scope in new:
        known = old.get(scope, nothing).binds
        brought = {name: how for name, how in new[scope].binds.items() if name not in known}
        for other, held in own.items() if brought else ():
            before = old.get(other, nothing)
            for name, how in brought.items():
                if name not in held.binds or name in before.binds or held.binds[name] & how:
                    continue
                if other == scope:
                    inner = [*_inside(own, scope), *_inside(new, scope)]
                    is_read = any(name in row.uses and name not in row.binds for row in inner)
                    if is_read or not is_set_apart(triple, scope, name):
                        rows = {**old, **new}.items()
                        apart = {row for row, names in rows if name in names.binds} - {scope}
                        taken.setdefault(name, apart)
                elif scope == "":  # the owner's local name hides what the update wants to use there
                    inside = new.get(other, nothing)
                    if name in inside.uses and name not in inside.binds:
                        taken[name] = set()
                elif other == "":  # the update's local name hides what the owner uses there
                    inside = own.get(scope, nothing)
                    if name in inside.uses and name not in inside.binds:
                        taken[name] = set()
    return dict(sorted(taken.items()))


def _newly_bound(base: Statements, side: Statements) -> set[str]:
    known = {(unit.scope, unit.key) for unit in base}
    added = read_names([unit for unit in side if (unit.scope, unit.key) not in known])
    return {name for names in added.values() for name in names.binds}


def _inside(names: Mapping[str, Names], scope: str) -> list[Names]:
    """Those of the functions in a scope."""
    return [row for name, row in names.items() if name != scope and name.startswith(scope)]
