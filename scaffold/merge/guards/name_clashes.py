"""Finds names that an update brings and the owner has already given to something else."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from scaffold.merge.diff.hunks import mentions, their_changes
from scaffold.merge.diff.triple import Hunk, Triple
from scaffold.merge.source.parse import parse
from scaffold.merge.source.statement import PYTHON, Statement
from scaffold.merge.source.write import write_units

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_INNER = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)  # have names of their own


@dataclass
class Scope:
    """What the code of one function, or of a file outside of its functions, does with names."""

    binds: dict[str, set[str]] = field(default_factory=dict)  # by which statements
    uses: set[str] = field(default_factory=set)

    def bind(self, name: str, how: str) -> None:
        self.binds.setdefault(name, set()).add(how)


Scopes = Mapping[str, Scope]  # by the qualified name of the function; "" is the file


def read_scopes(text: str) -> Scopes:
    """Raises SyntaxError."""
    scopes: dict[str, Scope] = {"": Scope()}
    _Reader(scopes).read(parse(text).body, "")
    return scopes


class _Reader:
    """Every kind of binding counts: of parameters, loops, imports, `with`, `except`, `:=`, ..."""

    def __init__(self, scopes: dict[str, Scope]) -> None:
        self.scopes = scopes

    def read(self, nodes: Sequence[ast.AST], scope: str, statement: str = "") -> None:
        for node in nodes:
            how = statement
            if isinstance(node, ast.stmt):
                how = _says(node)
            self._note(node, scope, how)
            if isinstance(node, _FUNCTIONS):
                self._function(node, scope)
            elif isinstance(node, ast.ClassDef):
                self.read([*node.decorator_list, *node.bases, *node.keywords], scope, how)
                inner = f"{scope}.{node.name}".strip(".")
                self.scopes.setdefault(inner, Scope())
                self.read(node.body, inner)
            elif isinstance(node, _INNER):
                # its variables are not seen outside, but a walrus in it and what it uses are
                own = {name.id for part in node.generators for name in _stored(part.target)}
                before = set(self.scopes[scope].uses)
                self.read(
                    [row for row in ast.iter_child_nodes(node) if row not in node.generators],
                    scope,
                    how,
                )
                for part in node.generators:
                    self.read([part.iter, *part.ifs], scope, how)
                self.scopes[scope].uses -= own - before
            else:
                self.read(list(ast.iter_child_nodes(node)), scope, how)

    def _function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: str
    ) -> None:
        rows = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        rows += [row for row in (node.args.vararg, node.args.kwarg) if row]
        defaults = [row for row in (*node.args.defaults, *node.args.kw_defaults) if row]
        self.read(defaults, scope)
        if isinstance(node, ast.Lambda):
            own = {row.arg for row in rows}
            before = set(self.scopes[scope].uses)
            self.read([node.body], scope)
            self.scopes[scope].uses -= own - before
            return
        self.read([*node.decorator_list, *([node.returns] if node.returns else [])], scope)
        inner = f"{scope}.{node.name}".strip(".")
        held = self.scopes.setdefault(inner, Scope())
        for row in rows:
            held.bind(row.arg, f"parameter {row.arg}")
            if row.annotation:
                self.read([row.annotation], scope)
        self.read(node.body, inner)

    def _note(self, node: ast.AST, scope: str, how: str) -> None:
        held = self.scopes[scope]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            held.bind(node.name, how)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                held.bind((alias.asname or alias.name).split(".")[0], f"import {alias.name}")
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                held.bind(alias.asname or alias.name, f"from {node.module} import {alias.name}")
        elif isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                held.uses.add(node.id)
            else:  # bound or deleted
                held.bind(node.id, how)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            for name in node.names:
                held.bind(name, how)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            held.bind(node.name, how)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            held.bind(node.rest, how)


def _stored(target: ast.AST) -> Iterator[ast.Name]:
    return (node for node in ast.walk(target) if isinstance(node, ast.Name))


def _says(node: ast.stmt) -> str:
    """A statement without the blocks in it."""
    parts = [
        ast.dump(value)
        for name, value in ast.iter_fields(node)
        if isinstance(value, ast.AST) and name not in ("body", "orelse", "finalbody")
    ]
    lists = [
        ast.dump(row)
        for name, value in ast.iter_fields(node)
        if isinstance(value, list) and name not in ("body", "orelse", "finalbody", "handlers")
        for row in value
        if isinstance(row, ast.AST)
    ]
    return " ".join([type(node).__name__, getattr(node, "name", ""), *parts, *lists])


def find_name_clashes(triple: Triple) -> Iterator[tuple[Hunk, str]]:
    """The hunks that bring a name which the owner has already given to something else."""
    sides = triple.base, triple.ours.units, triple.theirs.units
    for name in _clashes(*sides) if triple.kind == PYTHON else ():
        changes = their_changes(triple)
        for hunk in [row for row in changes if mentions(triple, row, name)] or changes:
            yield hunk, f"you already use the name {name}"


def _clashes(
    base: Sequence[Statement], ours: Sequence[Statement], theirs: Sequence[Statement]
) -> list[str]:
    """Names that both sides have newly bound, to different things, where each sees the other's."""
    try:
        old, own, new = (read_scopes(write_units(units)) for units in (base, ours, theirs))
    except SyntaxError:
        return []
    nothing = Scope()
    taken: set[str] = set()
    for scope in new:
        known = old.get(scope, nothing).binds
        brought = {name: how for name, how in new[scope].binds.items() if name not in known}
        for other, held in own.items():
            before = old.get(other, nothing)
            for name, how in brought.items():
                if name not in held.binds or name in before.binds or held.binds[name] & how:
                    continue
                if other == scope:
                    taken.add(name)
                elif scope == "":  # the owner's local name hides what the update wants to use there
                    inside = new.get(other, nothing)
                    if name in inside.uses and name not in inside.binds:
                        taken.add(name)
                elif other == "":  # the update's local name hides what the owner uses there
                    inside = own.get(scope, nothing)
                    if name in inside.uses and name not in inside.binds:
                        taken.add(name)
    return sorted(taken)
