"""Converts a result where its owner does: `return float(x)` in a function, not `float(x)` below."""

import ast
import re
from collections.abc import Iterator

from scaffold.merge.normalize.extracted.parts import result_of
from scaffold.merge.semantics.flow import functions
from scaffold.merge.source.statement import Statement, Statements, fingerprint


def move_conversions(
    base: Statements, ours: Statements, theirs: Statements
) -> tuple[Statements, Statements]:
    """Base and theirs with the owner's conversions, so that a value and its reads are the same."""
    said = {unit.key for unit in ours}
    instead: dict[str, str] = {}
    for value, name in _results(base, ours):
        inner = unconverted(value)
        for unit in base:
            node = unit.node
            text = re.sub(rf"\bfloat\({name}\)|\b{name}\.item\(\)", name, unit.text.strip())
            if unit.key not in said and fingerprint(text) in said:
                instead[unit.key] = text
            elif not isinstance(node, ast.Assign) or result_of(unit) != [name]:
                continue
            elif _shape(node.value) == _shape(inner):
                whole = ast.unparse(value).replace(ast.unparse(inner), ast.unparse(node.value))
                instead[unit.key] = f"{name} = {whole}"
    return _saying(base, instead), _saying(theirs, instead)


def _shape(node: ast.expr) -> str:
    """An expression without names: the owner may have renamed what a function reads."""
    return re.sub(r"Name\(id='\w+'", "", ast.dump(node))


def _results(base: Statements, ours: Statements) -> Iterator[tuple[ast.expr, str]]:
    """What new functions return that convert it, and the variable that gets it."""
    known = functions(base)
    for name, function in functions(ours).items():
        last = ours[function.end - 1].node
        value = last.value if isinstance(last, ast.Return) else None
        if name in known or value is None or unconverted(value) is value:
            continue
        for unit in ours:
            if f"{name}(" in unit.text and isinstance(unit.node, ast.Assign):
                *_, target = unit.node.targets
                if isinstance(target, ast.Name):
                    yield value, target.id


def unconverted(value: ast.expr) -> ast.expr:
    """What becomes a number: `x` of `float(x)` and of `x.item()`."""
    match value:
        case ast.Call(func=ast.Name(id="float"), args=[inner], keywords=[]):
            return inner
        case ast.Call(func=ast.Attribute(value=inner, attr="item"), args=[], keywords=[]):
            return inner
    return value


def _saying(units: Statements, instead: dict[str, str]) -> list[Statement]:
    return [unit.saying(instead[unit.key]) if unit.key in instead else unit for unit in units]
