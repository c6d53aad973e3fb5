"""The functions of a file as units, and where names in them get their values."""

import ast
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from scaffold.merge.semantics.effects import effects_of
from scaffold.merge.source.statement import Statement, Statements, block_of, fingerprint

MAIN = fingerprint('if __name__ == "__main__":')


@dataclass(frozen=True)
class Function:
    name: str  # qualified: "Trainer.fit"
    head: int  # the unit with `def`
    end: int
    parameters: tuple[str, ...]
    owner: str  # what a method calls its object; of a function nothing

    @property
    def lines(self) -> range:
        return range(self.head + 1, self.end)


def functions(units: Statements, inner: bool = False) -> dict[str, Function]:
    """The functions and methods of a file by name; those in other functions if `inner`.

    What runs only as a script is one, too: `__main__`.
    """
    found: dict[str, Function] = {}
    classes: set[str] = set()
    for number, unit in enumerate(units):
        end = block_of(units, number).stop if unit.is_head else number + 1
        node = None if unit.is_decorator else unit.node
        if unit.key == MAIN:
            found["__main__"] = Function("__main__", number, end, (), "")
        elif isinstance(node, ast.ClassDef):
            classes.add(unit.defined)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            is_method = unit.scope in classes
            if unit.scope and not is_method and not inner:
                continue
            rows = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            names = tuple(row.arg for row in rows)
            static = number and "staticmethod" in units[number - 1].text
            owner = names[0] if is_method and names and not static else ""
            found[unit.defined] = Function(unit.defined, number, end, names, owner)
    return found


def bound_names(units: Statements, function: Function) -> set[str]:
    """The variables of a function, with its parameters."""
    return {*function.parameters, *bound_in(units[row] for row in function.lines)}


def read_in(units: Iterable[Statement]) -> set[str]:
    return set().union(*(effects_of(unit).reads for unit in units))


def bound_in(units: Iterable[Statement]) -> set[str]:
    return set().union(*(effects_of(unit).binds for unit in units))


def needed_by(units: Statements) -> set[str]:
    """The names that statements read, and have not bound before in each case."""
    needed: set[str] = set()
    bound: list[tuple[int, set[str]]] = []  # with the depths at which they are known
    around: list[int] = []  # depths of `with`, whose body always runs
    for unit in units:
        if unit.is_comment:
            continue
        around = [depth for depth in around if depth < unit.depth]
        depth = unit.depth - len(around)
        bound = [row for row in bound if row[0] <= depth]
        names = effects_of(unit)
        needed |= names.reads.difference(*(row[1] for row in bound))
        is_with = unit.text.lstrip().startswith(("with ", "async with ")) and unit.is_head
        bound.append((depth + (unit.is_head and not is_with), names.binds))
        around += [unit.depth] if is_with else []
    return needed


class Sources:
    """The lines of a file that bind each name, by function.

    `changed` has the names that a function of the file changes: its calls are such lines, too.
    """

    def __init__(
        self, units: Statements, changed: Mapping[str, Collection[str]] | None = None
    ) -> None:
        self.units = units
        self.changed = changed or {}
        self.rows: dict[str, list[int]] = defaultdict(list)  # by scope
        for place, unit in enumerate(units):
            self.rows[unit.scope].append(place)
        self.read: dict[str, dict[str, list[int]]] = {}  # the places of each name, by scope

    def places(self, scope: str) -> dict[str, list[int]]:
        if scope not in self.read:
            found = self.read[scope] = defaultdict(list)
            for place in self.rows.get(scope, ()):
                effects = effects_of(self.units[place])
                called = (self.changed.get(row, ()) for row in effects.reads)
                for name in effects.binds.union(*called):
                    found[name].append(place)
        return self.read[scope]

    def above(self, before: int, name: str) -> int | None:
        """The nearest such line above, in the same function."""
        scope = self.units[min(before, len(self.units) - 1)].scope
        places = self.places(scope).get(name, [])
        found = bisect_left(places, before) - 1
        return places[found] if found >= 0 else None
