"""What the objects of a class have: its own members, those of its bases, and what methods set."""

import ast
from collections.abc import Callable as Function
from collections.abc import Iterator

from scaffold.merge.semantics.effects import own_nodes
from scaffold.merge.semantics.scopes import FUNCTIONS, Binding, Definition, Facts, Scope, set_by
from scaffold.merge.semantics.types import Class, Kind, Members
from scaffold.merge.source.parse import fields_in, last_name, nodes_of

_EMPTY_BASES = {"ABC", "Generic", "Protocol", "object"}  # without attributes of interest


def read_members(
    facts: Facts,
    scope: Scope,
    kind_of: Function[[ast.expr, Scope], Kind | None],
    members_of: Function[[Class], Members],
) -> Members:
    """The members of the class with this scope."""
    node = scope.node
    assert isinstance(node, ast.ClassDef)
    decorators = decorators_of(node)
    found: dict[str, list[tuple[Binding, Scope]]] = {}
    fields: list[str] = []
    is_open = bool(decorators - {"dataclass", "total_ordering"} or node.keywords)
    for base in node.bases:
        base = base.value if isinstance(base, ast.Subscript) else base
        above = kind_of(base, scope.parent or scope)
        if isinstance(above, Class):
            other = members_of(above)
            found |= other.bindings
            fields += other.fields
            is_open = is_open or other.is_open
        else:
            is_open = is_open or last_name(base) not in _EMPTY_BASES
    for name, bindings in scope.names.items():
        found[name] = [(binding, scope) for binding in bindings]
    for name, _ in fields_in(node):
        fields += [name] * (name not in fields)
    for name, value, where in _set_on_self(facts, scope):
        found.setdefault(name, []).append((value, where))
    is_open = is_open or bool({"__getattr__", "__getattribute__"} & found.keys())
    return Members(found, tuple(fields), "dataclass" in decorators, is_open or _sets_by_name(node))


def decorators_of(node: Definition) -> set[str]:
    """The names of decorators, without the modules that they are from."""
    called = (row.func if isinstance(row, ast.Call) else row for row in node.decorator_list)
    return {last_name(row) for row in called}


def _set_on_self(facts: Facts, scope: Scope) -> Iterator[tuple[str, Binding, Scope]]:
    """The attributes that methods set, and what they set them to."""
    for inner in scope.node.body if isinstance(scope.node, ast.ClassDef) else ():
        if isinstance(inner, FUNCTIONS) and inner.args.args:
            method, me = facts.scopes[id(inner)], inner.args.args[0].arg
            for target, value in (row for node in own_nodes(inner) for row in set_by(node)):
                match target:
                    case ast.Attribute(value=ast.Name(id=name)) if name == me:
                        yield target.attr, value, method


def _sets_by_name(node: ast.ClassDef) -> bool:
    """Whether methods set attributes whose names can't be seen. Reading `vars(self)` sets none."""
    parts = nodes_of(node)
    read = {part.value for part in parts if isinstance(part, ast.Attribute) and part.attr in _READS}
    for part in parts:
        if isinstance(part, ast.Attribute) and part.attr == "__dict__" and part not in read:
            return True
        called = part.func if isinstance(part, ast.Call) and part not in read else None
        if isinstance(called, ast.Name) and called.id in ("setattr", "vars"):
            return True
    return False


_READS = {"items", "keys", "values", "get", "copy"}  # methods of a dictionary that change nothing
