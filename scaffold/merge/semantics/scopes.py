"""What each name of a Python file is bound to, scope by scope. Nothing is executed."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

from scaffold.merge.source.parse import children_of, parse

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Definition: TypeAlias = Function | ast.ClassDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, eq=False)
class Imported:
    """A name that an import binds: a module, or `name` in it."""

    module: str
    level: int = 0
    name: str = ""


@dataclass(frozen=True, eq=False)
class Parameter:
    function: Function
    name: str
    annotation: ast.expr | None


# None: something that is not looked into
Binding: TypeAlias = "Imported | Parameter | Definition | ast.expr | Annotated | None"


@dataclass(frozen=True, eq=False)
class Annotated:
    annotation: ast.expr


@dataclass(eq=False)
class Scope:
    """A module, a class or a function, and the names that it binds."""

    path: str
    node: ast.Module | Definition | ast.Lambda
    parent: "Scope | None" = None
    names: dict[str, list[Binding]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """`Checkpoints.save`; of a module, nothing."""
        if self.parent is None:
            return ""
        own = getattr(self.node, "name", "<lambda>")
        return f"{self.parent.name}.{own}".lstrip(".")

    def bind(self, name: str, binding: Binding) -> None:
        self.names.setdefault(name, []).append(binding)


@dataclass(eq=False)
class Facts:
    """A file, with what the check looks at; each node comes with its scope."""

    path: str
    tree: ast.Module
    top: Scope
    scopes: dict[int, Scope] = field(default_factory=dict)  # by the id of a definition
    attributes: list[tuple[ast.Attribute, Scope]] = field(default_factory=list)
    calls: list[tuple[ast.Call, Scope]] = field(default_factory=list)
    items: list[tuple[ast.Subscript, Scope]] = field(default_factory=list)
    divisions: list[ast.BinOp] = field(default_factory=list)  # also of paths
    imports: list[tuple[Imported, int]] = field(default_factory=list)  # and their lines
    stars: list[Imported] = field(default_factory=list)


@lru_cache(maxsize=512)
def read_facts(path: str, text: str) -> Facts | None:
    """The facts of a file. None if it is not Python."""
    try:
        tree = parse(text)
    except SyntaxError:
        return None
    facts = Facts(path, tree, Scope(path, tree))
    reader = _Reader(facts)
    reader.read_body(tree.body, facts.top)
    return facts


_BINDING = (
    *(ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.AugAssign, ast.For),
    *(ast.AsyncFor, ast.comprehension, ast.withitem, ast.ExceptHandler, ast.MatchAs, ast.MatchStar),
    *(ast.Global, ast.Nonlocal),
)


class _Reader:
    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    def read_body(self, body: Sequence[ast.AST], scope: Scope) -> None:
        for node in body:
            self.read(node, scope)

    def read(self, node: ast.AST, scope: Scope) -> None:
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            self._define(node, scope)
            return
        if isinstance(node, ast.Lambda):
            inner = Scope(scope.path, node, scope)
            for name in _parameters(node.args):
                inner.bind(name.arg, None)
            self.read_body([node.args, node.body], inner)
            return
        if isinstance(node, _BINDING):
            self._bind(node, scope)
        if isinstance(node, ast.Attribute):
            self.facts.attributes.append((node, scope))
        elif isinstance(node, ast.Call):
            self.facts.calls.append((node, scope))
        elif isinstance(node, ast.Subscript):
            self.facts.items.append((node, scope))
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            self.facts.divisions.append(node)
        for child in children_of(node):
            self.read(child, scope)

    def _define(self, node: Definition, scope: Scope) -> None:
        scope.bind(node.name, node)
        inner = Scope(scope.path, node, scope)
        self.facts.scopes[id(node)] = inner
        self.read_body(node.decorator_list, scope)
        if isinstance(node, ast.ClassDef):
            self.read_body([*node.bases, *node.keywords], scope)
        else:
            self.read_body([*node.args.defaults, *filter(None, node.args.kw_defaults)], scope)
            for parameter in _parameters(node.args):
                inner.bind(parameter.arg, Parameter(node, parameter.arg, parameter.annotation))
        self.read_body(node.body, inner)

    def _bind(self, node: ast.AST, scope: Scope) -> None:
        """Note the names that a node binds by itself, without those inside of it."""
        for target, value in set_by(node):
            if isinstance(target, ast.Name):
                scope.bind(target.id, value)
        if isinstance(node, ast.Import | ast.ImportFrom):
            self._import(node, scope)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            scope.bind(node.name, None)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            for name in node.names:
                scope.bind(name, None)
                outer = self.facts.top if isinstance(node, ast.Global) else scope.parent
                if outer is not None:
                    outer.bind(name, None)

    def _import(self, node: ast.Import | ast.ImportFrom, scope: Scope) -> None:
        for alias in node.names:
            if isinstance(node, ast.Import):
                found = Imported(alias.name)
                bound = Imported(alias.name if alias.asname else alias.name.split(".")[0])
                scope.bind(alias.asname or alias.name.split(".")[0], bound)
            else:
                found = Imported(node.module or "", node.level, alias.name)
                if alias.name == "*":
                    self.facts.stars.append(found)
                else:
                    scope.bind(alias.asname or alias.name, found)
            self.facts.imports.append((found, node.lineno))


def set_by(node: ast.AST) -> Iterator[tuple[ast.expr, Binding]]:
    """What a node sets, part by part, and to what, if each part has its own value."""
    match node:
        case ast.Assign():
            for target in node.targets:
                yield from _single_targets(target, node.value)
        case ast.AnnAssign():
            yield node.target, Annotated(node.annotation)
        case ast.NamedExpr():
            yield node.target, node.value
        case ast.AugAssign() | ast.For() | ast.AsyncFor() | ast.comprehension():
            yield from _single_targets(node.target, None)
        case ast.withitem(optional_vars=ast.expr() as target):
            yield from _single_targets(target, None)


def _single_targets(
    target: ast.expr, value: ast.expr | None
) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    if isinstance(target, ast.Starred):
        yield from _single_targets(target.value, None)
    elif isinstance(target, ast.Tuple | ast.List):
        values = value.elts if isinstance(value, ast.Tuple | ast.List) else ()
        is_like_it = len(values) == len(target.elts)
        for number, part in enumerate(target.elts):
            yield from _single_targets(part, values[number] if is_like_it else None)
    else:
        yield target, value


def _parameters(arguments: ast.arguments) -> Iterator[ast.arg]:
    yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    yield from filter(None, (arguments.vararg, arguments.kwarg))
