"""Carries the owner's change of a call to where an update puts the statement.

`metrics |= evaluate(..., verbose=True)` was changed at the end of an epoch, and the new file
evaluates between steps: the call there is the owner's, too. Only a call that its owner changed
wherever it was is carried. What a loop goes over is carried to `iter()`, in the same way.
"""

import ast
from dataclasses import replace

from scaffold.merge.diff.expression import Source, read_source
from scaffold.merge.diff.mapping import align
from scaffold.merge.source.parse import nodes_of
from scaffold.merge.source.statement import Rendered, Statement, Statements, fingerprint

Change = tuple[str, str]  # what a call, or what a loop goes over, says, and the owner's text of it


def follow_moved_calls(base: Statements, ours: Statements, theirs: Statements) -> Rendered:
    """The pristine and the new file with the owner's calls, where the new one moved them."""
    old, new = list(base), list(theirs)
    own, other = align(base, ours), align(base, theirs)
    for number, unit in enumerate(base):
        changed = own.of(number)
        if other.match[number] is not None or changed is None or changed.key == unit.key:
            continue
        change = _find_change(unit, changed)
        if change is None or any(change[0] in _calls(row) for row in ours):
            continue
        for place in other.gap_of:
            if other.units[place].scope == unit.scope and change[0] in _calls(new[place]):
                new[place] = _with_change(new[place], change)
                old[number] = replace(changed, depth=unit.depth, scope=unit.scope)
    return old, new


def _find_change(unit: Statement, changed: Statement) -> Change | None:
    """The call that the owner changed, if it is all that is different."""
    source, own = _source(unit), _source(changed)
    if source is None or own is None:
        return None
    for call in _nodes(source):
        for there in _nodes(own):
            if fingerprint(_spliced(source, call, own.cut(there))) == changed.key:
                return ast.dump(call), own.cut(there)
    return None


def _spliced(source: Source, call: ast.expr, text: str) -> str:
    start, end = source.span(call)
    return source.text[:start] + text + source.text[end:]


def _with_change(unit: Statement, change: Change) -> Statement:
    source = _source(unit)
    for call in _nodes(source):
        if source and ast.dump(call) == change[0]:
            return unit.saying(_spliced(source, call, change[1]))
    return unit


def _calls(unit: Statement) -> set[str]:
    return {ast.dump(call) for call in _nodes(_source(unit))}


def _source(unit: Statement) -> Source | None:
    text = unit.text.strip()
    known = not unit.is_comment and ("(" in text or text.startswith("for "))
    return read_source(text) if known else None


def _nodes(source: Source | None) -> list[ast.expr]:
    """The calls of a statement, the outer ones first, and what it iterates over."""
    found: list[ast.expr] = []
    for node in nodes_of(source.tree) if source else ():
        if isinstance(node, ast.For):
            found.append(node.iter)
        elif isinstance(node, ast.Call):
            found.append(node)
            if isinstance(node.func, ast.Name) and node.func.id == "iter":
                found += node.args[:1]
    return found
