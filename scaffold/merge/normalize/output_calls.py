"""Follows an owner who uses another function for output: `logger.info(x)` instead of `log(x)`.

The pristine and the new file then say it in the same way. Only calls whose result nobody uses are
followed: a value that comes from another function is another value.
"""

import ast
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping

from scaffold.merge.semantics.effects import shows_text
from scaffold.merge.semantics.imports import mended
from scaffold.merge.source.statement import (
    PYTHON,
    Rendered,
    Statement,
    Statements,
    split,
    write_units,
)
from scaffold.merge.source.style import names_in

_FEW = 2  # calls that have to show it at least


def follow_output_calls(base: Statements, ours: Statements, theirs: Statements) -> Rendered:
    """The pristine and the new file with the functions that the owner calls in place of others."""
    table = _find_replaced(base, ours, theirs)
    names = names_in(ours) if table else set()
    table = {old: new for old, new in table.items() if not _is_renamed(old, new, names)}
    return _put_on(base, table), _put_on(theirs, table)


def _is_renamed(old: str, new: str, names: Collection[str]) -> bool:
    """Whether two functions are methods of one object, which has another name now."""
    root, _, method = old.partition(".")
    return bool(method) and new.partition(".")[2] == method and root not in names


def _find_replaced(base: Statements, ours: Statements, theirs: Statements) -> dict[str, str]:
    """The functions that are called nowhere any more, each with the one that is called instead.

    If such a function shows texts, so are those that only the new file calls for its texts.
    """
    old, own, new = map(_by_callee, (base, ours, theirs))
    shown, brought = _shown(base), _shown(theirs) - old.keys() - own.keys()
    found: dict[str, str] = {}
    for callee in old.keys() - own.keys():
        instead, count = _instead(old[callee], own)
        there = {callee} & new.keys() | (brought if callee in shown else set())
        if count >= _FEW and there:
            found |= dict.fromkeys({callee, *there}, instead)
    return found


def _shown(units: Statements) -> set[str]:
    """The functions that are called to show a text."""
    nodes = (unit.node.value for unit in units if isinstance(unit.node, ast.Expr))
    calls = (node for node in nodes if isinstance(node, ast.Call) and shows_text(node))
    return {ast.unparse(call.func) for call in calls}


def _instead(calls: Counter[str], side: Mapping[str, Counter[str]]) -> tuple[str, int]:
    """The only function that is called with some of these arguments, and how often it is."""
    kept = {callee: (calls & side[callee]).total() for callee in side}
    found = [callee for callee in kept if kept[callee]]
    return (found[0], kept[found[0]]) if len(found) == 1 else ("", 0)


def _by_callee(units: Statements) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for unit in units:
        callee, arguments = _said(unit)
        if callee:
            found[callee][arguments] += 1
    return found


def _said(unit: Statement) -> tuple[str, str]:
    """What a statement calls, if it does nothing else, and the arguments. Else nothing."""
    node = unit.node.value if isinstance(unit.node, ast.Expr) else None
    if not isinstance(node, ast.Call) or not (node.args or node.keywords):
        return "", ""
    callee = ast.unparse(node.func)
    arguments = ast.unparse(ast.Call(ast.Name("_"), node.args, node.keywords))
    return (callee, arguments) if unit.text.strip().startswith(f"{callee}(") else ("", "")


def _put_on(units: Statements, table: Mapping[str, str]) -> list[Statement]:
    out = []
    for unit in units:
        callee, _ = _said(unit) if table else ("", "")
        if callee in table:
            unit = unit.saying(unit.text.strip().replace(callee, table[callee], 1))
        out.append(unit)
    if not table:
        return out
    return split(mended(write_units(out), write_units(units), ()), PYTHON)  # and its imports
