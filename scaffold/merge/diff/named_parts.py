"""Follows one side that gives a part of a statement a name: `logits = model(images)`.

Where the update does, the base and the owner's text get this line, too, if the owner changed the
rest of the statement. Where the owner does, the base and the update get it.
"""

import ast
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace

from scaffold.merge.diff.expression import read_source
from scaffold.merge.diff.mapping import Side, align
from scaffold.merge.semantics.effects import effects_of
from scaffold.merge.source.parse import nodes_of
from scaffold.merge.source.statement import Rendered, Statement, Statements

Named = tuple[int, Statement, Statement]  # a unit of the base, the new line, and what it became


def follow_named_parts(
    base: Statements, ours: Statements, side: Side, indent: str
) -> tuple[Statements, Statements]:
    """Base and ours with names that the other side gives to parts of statements."""
    for number, line, now in _named_parts(base, side):
        own = align(base, ours)
        there = own.of(number)
        if there is not None and there.key == base[number].key:
            continue
        place = _place_of(own, number, _value_of(line))
        if place is None:
            continue
        is_there = ours[place].key == line.key  # the owner named it, too
        if is_there or not _is_bound(ours, line):
            rest = [ours[place]] if is_there else _with_name(ours[place], line)
            ours = [*ours[:place], *rest, *ours[place + 1 :]]
            base = [*base[:number], line, now, *base[number + 1 :]]
            break
    return base, ours


def follow_own_names(base: Statements, ours: Statements, theirs: Statements) -> Rendered:
    """Base and theirs with names that the owner gives to parts of statements.

    Theirs may have such a statement in another place, or in a block.
    """
    old, new = list(base), list(theirs)
    for number, line, now in [*_named_parts(base, align(base, ours))][::-1]:
        unit = base[number]
        if any((row.scope, row.key) == (unit.scope, unit.key) for row in new):
            old, new = (_with_line(side, unit, line, now) for side in (old, new))
    return old, new


def _with_line(
    units: Statements, unit: Statement, line: Statement, now: Statement
) -> list[Statement]:
    """The units with a line and what follows it in place of a unit."""
    found: list[Statement] = []
    for row in units:
        if (row.scope, row.key) == (unit.scope, unit.key):
            found.append(replace(row.saying(line.text.strip()), comment=line.comment))
            rest = row.saying(now.text.strip())
            found.append(replace(rest, comment=now.comment, blanks=0))
        else:
            found.append(row)
    return found


def _named_parts(base: Statements, side: Side) -> Iterator[Named]:
    for number, unit in enumerate(base):
        place, now = side.match[number], side.of(number)
        if not place or now is None or now.key == unit.key or place - 1 in side.number_of:
            continue
        line = side.units[place - 1]
        if unit.node is None or not line.depth == now.depth == unit.depth or not _value_of(line):
            continue
        if ast.dump(_without_name(now, line)) == ast.dump(unit.node):
            yield number, line, now


def _value_of(line: Statement) -> str:
    """What a line gives a name to. Nothing if it does something else."""
    match line.node:
        case ast.Assign(targets=[ast.Name()], value=ast.Call() as value):
            return ast.dump(value)
    return ""


class _Insert(ast.NodeTransformer):
    def __init__(self, line: Statement) -> None:
        assert isinstance(line.node, ast.Assign) and isinstance(line.node.targets[0], ast.Name)
        self.name, self.value = line.node.targets[0].id, line.node.value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        is_it = node.id == self.name and isinstance(node.ctx, ast.Load)
        return self.value if is_it else node


def _without_name(unit: Statement, line: Statement) -> ast.AST:
    """A statement with the value in place of its name."""
    source = read_source(unit.text.strip())
    return _Insert(line).visit(deepcopy(source.tree)) if source else ast.Pass()


def _place_of(own: Side, number: int, value: str) -> int | None:
    """The only statement of the owner's with this part: the edited one, or what is in its place."""
    place = own.match[number]
    places = [*own.inserts[number], *([] if place is None else [place]), *own.inserts[number + 1]]
    nodes = ((row, own.units[row].node) for row in places)
    found = [
        row
        for row, tree in nodes
        for node in (nodes_of(tree) if tree else ())
        if isinstance(node, ast.Call) and ast.dump(node) == value
    ]
    return found[0] if len(found) == 1 else None


def _is_bound(units: Statements, line: Statement) -> bool:
    return any(effects_of(line).binds & effects_of(u).binds for u in units if u.scope == line.scope)


def _with_name(unit: Statement, line: Statement) -> list[Statement]:
    """The line, and a statement of the owner's with the name in place of the part."""
    source = read_source(unit.text.strip())
    assert source and isinstance(line.node, ast.Assign)
    for node in nodes_of(source.tree):
        if ast.dump(node) == _value_of(line):
            start, end = source.span(node)
            name = ast.unparse(line.node.targets[0])
            text = source.text[:start] + name + source.text[end:]
            return [line, unit.saying(text)]
    return [unit]
