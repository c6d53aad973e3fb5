"""The functions of a file as units, and the names that go into their statements and come out."""

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scaffold.merge.semantics.effects import effects_of
from scaffold.merge.source.statement import Statement, fingerprint

MAIN = fingerprint('if __name__ == "__main__":')


@dataclass(frozen=True)
class Function:
    name: str  # qualified: "Trainer.fit"
    head: int  # the unit with `def`
    end: int
    parameters: tuple[str, ...]
    owner: str  # what a method calls its object; of a function nothing


def functions(units: Sequence[Statement], inner: bool = False) -> dict[str, Function]:
    """The functions and methods of a file by name; those in other functions if `inner`.

    What runs only as a script is one, too: `__main__`.
    """
    found: dict[str, Function] = {}
    kinds: dict[str, type] = {}
    for number, unit in enumerate(units):
        if unit.key == MAIN:
            found["__main__"] = Function("__main__", number, _end_of(units, number), (), "")
        node = _definition(unit)
        if node is None:
            continue
        name = f"{unit.scope}.{node.name}".strip(".")
        kinds[name] = type(node)
        if isinstance(node, ast.ClassDef):
            continue
        method = kinds.get(unit.scope) is ast.ClassDef
        if unit.scope and not method and not inner:
            continue
        rows = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        names = tuple(row.arg for row in rows)
        static = number and "staticmethod" in units[number - 1].text
        owner = names[0] if method and names and not static else ""
        found[name] = Function(name, number, _end_of(units, number), names, owner)
    return found


def _end_of(units: Sequence[Statement], head: int) -> int:
    end = head + 1
    while end < len(units) and units[end].depth > units[head].depth:
        end += 1
    return end


def _definition(unit: Statement) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | None:
    if unit.is_comment or not unit.text.lstrip().startswith(("def ", "async def ", "class ")):
        return None
    node = unit.node
    return node if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else None


def bound_names(units: Sequence[Statement], function: Function) -> set[str]:
    """The variables of a function, with its parameters."""
    found = set(function.parameters)
    return found.union(
        *(effects_of(unit).binds for unit in units[function.head + 1 : function.end])
    )


def read_in(units: Iterable[Statement]) -> set[str]:
    return set().union(*(effects_of(unit).reads for unit in units))


def bound_in(units: Iterable[Statement]) -> set[str]:
    return set().union(*(effects_of(unit).binds for unit in units))


def needed_by(units: Sequence[Statement]) -> set[str]:
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
        head = unit.is_head
        bound.append((depth + (head and not _is_with(unit)), names.binds))
        around += [unit.depth] if _is_with(unit) else []
    return needed


def _is_with(unit: Statement) -> bool:
    return unit.text.lstrip().startswith(("with ", "async with ")) and (unit.is_head)
