"""Finds code that the owner has several times, where an update changes it once.

An evaluation in both branches of an `if` gets a new argument in one of them, and so does one of two
calls in a sum of losses. What comes after it would be done in each round of a loop.
"""

import ast
import builtins
from collections.abc import Iterator, Mapping

from scaffold.merge.diff.depth import (
    branch_of,
    condition_above,
    is_independent,
    needs_block,
    new_head,
)
from scaffold.merge.diff.mapping import anchor
from scaffold.merge.diff.triple import Hunk, Triple
from scaffold.merge.source.parse import nodes_of
from scaffold.merge.source.statement import Statement, block_of


def find_copied_code(triple: Triple) -> Iterator[tuple[Hunk, str]]:
    """The changes of such code, each with the reason."""
    if not triple.ours.added:
        return
    for number, unit in enumerate(triple.base):
        there = triple.theirs.of(number)
        if there and there.key == unit.key:
            continue
        if branch_of(triple, number) is not None:
            yield (number, number + 1), f"you also have {_name(triple, number)} in another branch"
        elif there and (name := _called_elsewhere(triple, unit, there)):
            yield (number, number + 1), f"you also call {name}() in another place"
    for gap, places in enumerate(triple.theirs.inserts):
        above = gap - 1
        head = new_head(triple, above) if places and above >= 0 else None
        if head is None:
            continue
        units = triple.ours.units
        is_last = block_of(units, head)[-1] == triple.ours.match[above]
        if not is_last and branch_of(triple, above) is not None:
            yield (gap, gap), f"you also have {_name(triple, above)} in another branch"
        elif is_last and units[head].text.lstrip().startswith(("for ", "while ")):
            yield (gap, gap), "does it belong to each round of your loop?"
        elif _may_be_conditional(triple, gap):
            yield (gap, gap), "does it belong into your `if`?"


def _may_be_conditional(triple: Triple, gap: int) -> bool:
    """Whether new lines would come into the owner's `if`, whose lines they do not need."""
    condition = condition_above(triple, gap)
    if condition is None or triple.opens_for_next(triple.theirs, gap):
        return False
    is_if = isinstance(triple.ours.units[condition].node, ast.If)
    return is_if and not (
        is_independent(triple, condition, gap) or needs_block(triple, condition, gap)
    )


def _called_elsewhere(triple: Triple, unit: Statement, there: Statement) -> str:
    """A function that the owner calls in a new line too, and that an update calls with another
    argument by name, or no more."""
    units, new = triple.ours.units, _calls(there)
    for name, words in _calls(unit).items():
        goes = not any(f"{name}(" in row.text for row in triple.theirs.units)
        if not goes and new.get(name, words) <= words:
            continue
        others = [
            row
            for row, other in enumerate(units)
            if other.scope == unit.scope and other.key != unit.key
            if f"{name}(" in other.text and name in _calls(other)
        ]
        is_new = others and not triple.ours.number_of.keys() & set(others)
        if is_new and not any(new.get(name, {""}) <= _calls(units[row])[name] for row in others):
            return name
    return ""


def _calls(unit: Statement) -> Mapping[str, set[str]]:
    """The arguments by name of each function in a statement, but for those of Python itself."""
    found: dict[str, set[str]] = {}
    for node in nodes_of(unit.node) if unit.node else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            words = {word.arg or "" for word in node.keywords}
            if not hasattr(builtins, node.func.id):
                found.setdefault(node.func.id, set()).update(words)
    return found


def _name(triple: Triple, number: int) -> str:
    return anchor(triple.base[number])[-1] or "this line"
