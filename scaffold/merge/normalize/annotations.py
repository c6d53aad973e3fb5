"""Follows an owner who took a type hint out of all signatures."""

import ast
from collections.abc import Iterator

from scaffold.merge.source.parse import statements_of, tree_of
from scaffold.merge.source.statement import PYTHON, Rendered, Statements, split, write_units

Hint = tuple[tuple[str, str], str, tuple[int, int, int, int]]  # of a parameter, what it says, where


def follow_annotations(base: Statements, ours: Statements, theirs: Statements) -> Rendered:
    """Base and theirs without the hints that their owner took out, there and elsewhere."""
    old, own, new = map(write_units, (base, ours, theirs))
    texts = _without_gone(old, own, new)
    if texts == (old, new):
        return list(base), list(theirs)
    return split(texts[0], PYTHON), split(texts[1], PYTHON)


def _without_gone(base: str, ours: str, theirs: str) -> tuple[str, str]:
    old, own, new = (list(_hints(text)) for text in (base, ours, theirs))
    renamed = _renamed(old, own)
    hinted = {place for place, says, _ in own if says}  # methods of other classes, too
    bare = {renamed.get(place, place) for place, _, _ in own if place not in hinted}
    kept = {says for _, says, _ in own}
    places = {place for place, says, _ in old if place in bare and says}
    gone = {says for place, says, _ in old if place in places and says not in kept}
    sides = ((base, old), (theirs, new))
    rows = [[hint for hint in side if hint[0] in places or hint[1] in gone] for _, side in sides]
    return _without(base, rows[0]), _without(theirs, rows[1])


def _renamed(old: list[Hint], own: list[Hint]) -> dict[tuple[str, str], tuple[str, str]]:
    """The parameters to which the owner gave other names, and what they were called."""
    before, now = _parameters(old), _parameters(own)
    return {
        (function, new): (function, name)
        for function in before.keys() & now.keys()
        if len(before[function]) == len(now[function])
        for name, new in zip(before[function], now[function], strict=True)
        if new not in before[function]
    }


def _parameters(hints: list[Hint]) -> dict[str, list[str]]:
    """The parameters of each function, in their order."""
    found: dict[str, list[str]] = {}
    for (function, name), _, _ in hints:
        found.setdefault(function, []).append(name)
    return found


def _hints(text: str) -> Iterator[Hint]:
    """The parameters of all functions with their hints, and what they return."""
    rows = text.split("\n")
    for node in statements_of(tree_of(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
                says = "" if arg.annotation is None else ast.unparse(arg.annotation)
                start = arg.lineno, arg.col_offset + len(arg.arg.encode())
                end = arg.end_lineno or arg.lineno, arg.end_col_offset or 0
                yield (node.name, arg.arg), says, (*start, *end)
            if node.returns is None:
                yield (node.name, "->"), "", (0, 0, 0, 0)
            else:
                line = node.returns.lineno
                before = rows[line - 1].encode()[: node.returns.col_offset].rpartition(b"->")[0]
                end = node.returns.end_lineno or line, node.returns.end_col_offset or 0
                says = f"-> {ast.unparse(node.returns)}"
                yield (node.name, "->"), says, (line, len(before.rstrip()), *end)


def _without(text: str, hints: list[Hint]) -> str:
    rows = text.split("\n")
    for _, _, (first, start, last, end) in sorted(hints, key=lambda h: h[2], reverse=True):
        if first == last and start:
            row = rows[first - 1].encode()
            rows[first - 1] = (row[:start] + row[end:]).decode()
    return "\n".join(rows)
