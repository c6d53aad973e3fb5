"""Passes on what a part needs and what comes of it: parameters, arguments, and what is returned."""

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from scaffold.merge.diff.expression import lay_out
from scaffold.merge.normalize.extracted.conversions import unconverted
from scaffold.merge.normalize.extracted.moved import Moved
from scaffold.merge.normalize.extracted.parts import Part
from scaffold.merge.semantics.flow import bound_in, bound_names, functions, needed_by, read_in
from scaffold.merge.source.parse import nodes_of
from scaffold.merge.source.statement import Statement, Statements, fingerprint, parse_unit

Instead = dict[int, list[Statement]]


@dataclass(frozen=True)
class Change:
    """What a part gets and returns otherwise than in the owner's code."""

    needs: Sequence[str]  # new parameters
    spare: Sequence[str]  # parameters that it needs no more
    given: Sequence[str]  # new results
    gone: Sequence[str]


def passed_on(old: Moved, new: Moved) -> Instead:
    """What stands in the new file instead of the owner's heads, calls and returns, by its number.

    -1 - number: what is behind the part that begins at this line of the owner's.
    """
    instead: Instead = {}
    for part in new.parts:
        before, after = (_flow(moved, part) for moved in (old, new))
        names = set(part.target.parameters)
        held = bound_names(new.of(part), functions(new.of(part))[part.function.name])
        read = _other_reads(new, part)
        spare = sorted((before[0] - held) & names - read)
        given = sorted(after[1] - before[1])
        lost = before[1] - bound_in(new.of(part)[slice(*new.spans[part])])
        outside = set() if part.is_inner else lost & read & held  # computed around it now
        needs = sorted((after[0] - before[0] | outside) - names)
        gone = sorted(lost - outside)
        if needs or spare or given or gone or (part.results and not new.returns(part)):
            _edit(instead, new, part, Change(needs, spare, given, gone))
    return instead


def _flow(moved: Moved, part: Part) -> tuple[set[str], set[str]]:
    """The variables that a part needs, and those that are read behind it."""
    start, end = moved.spans[part]
    side = moved.of(part)
    whole = functions(side)[part.function.name]
    rows = side[start:end]
    outside = [*side[whole.head + 1 : start], *side[end : whole.end]]
    local = bound_in(outside) | set(whole.parameters)
    attributes = moved.attributes.table(part).keys()
    needs = set() if part.is_inner else needed_by(rows) & local - attributes
    behind = [*side[end : whole.end], *_next_round(side, start, whole.head)]
    gives = bound_in(rows) & needed_by(behind) - attributes
    return needs, gives


def binds_outer_names(old: Moved, new: Moved, part: Part) -> bool:
    """Whether an update binds names in an inner function that it has from outside, or attributes
    that are parameters of a function: they would be other ones."""
    start, end = new.spans[part]
    rows = new.of(part)[start:end]
    bound = bound_in(rows) - bound_in(old.of(part)[slice(*old.spans[part])])
    sets = {ast.unparse(target) for unit in rows for target in _targets(unit.node)}
    return bool(sets & part.passed.keys()) or (part.is_inner and bool(bound & needed_by(rows)))


def _targets(node: ast.AST | None) -> Sequence[ast.expr]:
    """The attributes that a statement assigns to."""
    targets = getattr(node, "targets", [getattr(node, "target", None)])
    return [target for target in targets if isinstance(target, ast.Attribute)]


def _next_round(side: Statements, start: int, head: int) -> Statements:
    """What the innermost loop around a part does before it comes to the part again."""
    depth = side[start].depth
    for number in range(start - 1, head, -1):
        if side[number].depth < depth and not side[number].is_comment:
            depth = side[number].depth
            if side[number].text.lstrip().startswith(("for ", "while ", "async for ")):
                return side[number:start]
    return ()


def _other_reads(moved: Moved, part: Part) -> set[str]:
    """What the owner's own lines of the definition read, except to return it as it is."""
    head, end = part.target.head, part.target.end
    start, last = part.inside
    rows = [*moved.ours[head + 1 : start], *moved.ours[last:end]]
    rows = [row for row in rows if not (isinstance(row.node, ast.Return) and _result(row))]
    changed = [moved.ours[n] for n in range(start, last) if n not in set(part.places.values())]
    return read_in([*rows, *changed])


def _edit(instead: Instead, moved: Moved, part: Part, change: Change) -> None:
    """Write other parameters and results, where there is one call and nothing unusual."""
    ours = moved.ours
    found = [n for n, u in enumerate(ours) if part.is_called_in(u.text)]
    if len(found) != 1 or found != part.calls:
        return
    head, call = part.target.head, found[0]
    behind = range(part.inside[1], part.target.end)
    returns = [n for n in behind if ours[n].text.lstrip().startswith("return")]
    now_head = instead.get(head, [ours[head]])[0]
    now_call = instead.get(call, [ours[call]])[0]
    needs, spare, given, gone = change.needs, change.spare, change.given, change.gone
    called = [moved.called(part, name) for name in needs]
    new_head = _changed(now_head, lambda tree: _parameters(tree, needs, spare))
    new_call = _changed(now_call, lambda tree: _arguments(tree, part, called, spare))
    if new_head is None or new_call is None:
        return
    instead |= {head: [new_head], call: [new_call]}
    if given or gone or (part.results and not moved.returns(part)):
        row = ours[returns[0]] if len(returns) == 1 else None
        if len(returns) > 1 or moved.returns(part):
            return
        names = list(part.results) or _result(row)
        if names is None:
            return
        wanted = [name for name in names if name not in gone] + list(given)
        held, results = ([moved.called(part, n) for n in rows] for rows in (names, wanted))
        with_result = _changed(new_call, lambda tree: _bound_to(tree, held, results))
        if with_result is None:
            return
        instead[call] = [with_result]
        if not wanted:
            instead[head] = [_changed(new_head, _returns_nothing) or new_head]
        listed = f"return {', '.join(wanted)}"
        if row is not None:
            instead[returns[0]] = [_written(row, listed)] if wanted else []
        elif wanted:
            first = next(u for u in ours[part.target.head + 1 :] if not u.is_comment)
            line = Statement(
                (first.margin + listed,), fingerprint(listed), "", first.depth, 0, part.target.name
            )
            instead[-1 - part.inside[0]] = [line]


def _changed(unit: Statement, change: Callable[[ast.Module], bool]) -> Statement | None:
    """A statement after a change of its tree. None if the change is none for it."""
    found = parse_unit(unit.text.strip())
    if found is None or found[1].word:
        return None
    tree = ast.parse(ast.unparse(found[0]))
    before = ast.dump(tree)
    if not change(tree):
        return None
    if ast.dump(tree) == before:
        return unit
    text = ast.unparse(tree)
    if text.endswith("pass"):
        text = text.rpartition("\n")[0]
    return _written(unit, text)


def _written(unit: Statement, text: str) -> Statement:
    text = lay_out(text, len(unit.margin), unit)
    end = f"  {unit.comment}" if unit.comment and "\n" not in text else ""
    lines = tuple(unit.margin + row for row in (text + end).split("\n"))
    return replace(unit, lines=lines, key=fingerprint(text))


def _parameters(tree: ast.Module, needs: Sequence[str], spare: Sequence[str]) -> bool:
    (node,) = tree.body
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    rows = node.args
    if rows.vararg or rows.kwarg or rows.kwonlyargs or rows.defaults:
        return not needs and not spare
    rows.args = [row for row in rows.args if row.arg not in spare]
    rows.args += [ast.arg(name) for name in needs]
    return True


def _returns_nothing(tree: ast.Module) -> bool:
    (node,) = tree.body
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    node.returns = node.returns and ast.Constant(None)
    return True


def _arguments(tree: ast.Module, part: Part, needs: Sequence[str], spare: Sequence[str]) -> bool:
    calls = [
        child
        for child in nodes_of(tree)
        if isinstance(child, ast.Call) and part.is_called_in(f"{ast.unparse(child.func)}(")
    ]
    if len(calls) != 1:
        return False
    (call,) = calls
    if any(isinstance(row, ast.Starred) for row in call.args):
        return False
    names = part.target.parameters[bool(part.target.owner) :]
    if len(call.args) + len(call.keywords) != len(names):
        return not needs and not spare
    pairs = [*zip(names, call.args, strict=False)]
    call.args = [row for known, row in pairs if known not in spare]
    call.keywords = [row for row in call.keywords if row.arg not in spare]
    if call.keywords:
        call.keywords += [ast.keyword(new, ast.Name(new)) for new in needs]
    else:
        call.args += [ast.Name(new) for new in needs]
    return True


def _result(row: Statement | None) -> list[str] | None:
    """The variables that are returned. None if it is something else."""
    if row is None:
        return []
    value = row.node.value if isinstance(row.node, ast.Return) else None
    return _listed(unconverted(value)) if value else None


def _listed(node: ast.expr) -> list[str] | None:
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    return names if len(names) == len(parts) else None


def _bound_to(tree: ast.Module, names: Sequence[str], wanted: Sequence[str]) -> bool:
    """Bind other results of a call, which is all of a statement."""
    (node,) = tree.body
    if isinstance(node, ast.Assign):
        value, held = node.value, _listed(node.targets[0]) if len(node.targets) == 1 else None
    elif isinstance(node, ast.Expr):
        value, held = node.value, []
    else:
        return False
    if not isinstance(value, ast.Call) or held != list(names):
        return False
    text = ast.unparse(value)
    text = f"{', '.join(wanted)} = {text}" if wanted else text
    tree.body = ast.parse(text).body
    return True
