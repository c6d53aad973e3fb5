"""What the expressions of a project are: its modules, classes, functions and their objects.

Only what is certain: where a name may be two things, it is unknown. Parameters are what they are
called with, or else what their annotations say.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import PurePosixPath

from scaffold.merge.semantics.classes import decorators_of, read_members
from scaffold.merge.semantics.effects import own_nodes
from scaffold.merge.semantics.modules import Modules
from scaffold.merge.semantics.scopes import (
    FUNCTIONS,
    Annotated,
    Binding,
    Facts,
    Function,
    Imported,
    Parameter,
    Scope,
)
from scaffold.merge.semantics.types import (
    Callable,
    Class,
    Kind,
    Members,
    Module,
    Nothing,
    Object,
    Outside,
    one_of,
)
from scaffold.merge.source.training import CONFIG, PLAIN_DECORATORS, SHARE_LISTS

# decorators after which a function is still called as it is written
_PLAIN = PLAIN_DECORATORS | {"cache", "contextmanager", "lru_cache", "overload", "wraps"}


class Kinds(Modules):
    def __init__(self, files: Mapping[str, Facts]) -> None:
        super().__init__(files)
        self.definitions: dict[tuple[str, str], Scope] = {}
        for path, facts in files.items():
            for scope in facts.scopes.values():
                self.definitions.setdefault((path, scope.name), scope)
        self._members: dict[Class, Members] = {}
        self._kinds: dict[tuple[int, int], Kind | None] = {}
        self.given: Mapping[tuple[int, str], set[Kind | None]] = {}
        self._open: list[Binding] = []  # that are looked into

    def kind(self, node: ast.expr, scope: Scope) -> Kind | None:
        """What an expression is. None if that is not certain."""
        if self._open and isinstance(node, ast.Name):  # it may refer to itself
            return self.look_up(node.id, scope)
        key = (id(node), id(scope))
        if key not in self._kinds:
            self._kinds[key] = None  # for what refers to itself
            self._kinds[key] = self._find_kind(node, scope)
        return self._kinds[key]

    def _find_kind(self, node: ast.expr, scope: Scope) -> Kind | None:
        match node:
            case ast.Constant(value=None):
                return Nothing()
            case ast.Name():
                return self.look_up(node.id, scope)
            case ast.Attribute():
                return self._attribute(self.kind(node.value, scope), node.attr)
            case ast.Call():
                return self._result(node, scope)
            case ast.Subscript(value=ast.Call(func=func, args=[ast.List(elts=[shared])])):
                kind = self.kind(func, scope)
                shares = isinstance(kind, Outside) and kind.name in SHARE_LISTS
                return self.kind(shared, scope) if shares else None
            case ast.NamedExpr() | ast.Await():
                return self.kind(node.value, scope)
            case ast.IfExp():
                return one_of([self.kind(part, scope) for part in (node.body, node.orelse)])
            case ast.BoolOp(op=ast.Or()):
                return one_of([self.kind(part, scope) for part in node.values])
        return None

    def look_up(self, name: str, scope: Scope) -> Kind | None:
        place: Scope | None = scope
        while place is not None:
            if name in place.names and (place is scope or not isinstance(place.node, ast.ClassDef)):
                return one_of(self._bindings(place.names[name], place))
            place = place.parent
        for star in self.files[scope.path].stars:
            path = self.find_module(scope.path, star)
            if path is not None and path != scope.path and name in self.files[path].top.names:
                return self.look_up(name, self.files[path].top)
        return None

    def _bindings(self, bindings: Sequence[Binding], scope: Scope) -> list[Kind | None]:
        """What a name is bound to. `x = replace(x, ...)` leaves it what it is."""
        found: list[Kind | None] = []
        for binding in bindings:
            if binding and binding in self._open:
                inside = self._open[self._open.index(binding) :]
                found += [] if all(row in bindings for row in inside) else [None]
                continue
            self._open.append(binding)
            found.append(self._bound(binding, scope))
            self._open.pop()
        return found

    def _bound(self, binding: Binding, scope: Scope) -> Kind | None:
        match binding:
            case Imported():
                return self._imported(scope.path, binding)
            case Parameter():
                return _parameter(self, binding, scope)
            case Annotated():
                return _annotated(self, binding.annotation, scope)
            case None:
                return None
            case ast.ClassDef():
                return Class(scope.path, f"{scope.name}.{binding.name}".lstrip("."))
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return Callable(scope.path, f"{scope.name}.{binding.name}".lstrip("."))
        return self.kind(binding, scope)

    def _imported(self, path: str, imported: Imported) -> Kind | None:
        if not imported.name:
            found = self.find_module(path, imported)
            return Module(found) if found else Outside(imported.module)
        found = self.submodule(path, imported)
        if found is not None:
            return Module(found)
        found = self.find_module(path, imported)
        if found is None:
            return Outside(f"{imported.module}.{imported.name}")
        return self.look_up(imported.name, self.files[found].top) if found != path else None

    def _attribute(self, kind: Kind | None, name: str) -> Kind | None:
        match kind:
            case Module():
                if name in self.files[kind.path].top.names:
                    return self.look_up(name, self.files[kind.path].top)
                package = PurePosixPath(kind.path)
                inner = str(package.with_name(f"{name}.py"))
                is_package = package.name == "__init__.py" and inner in self.files
                return Module(inner) if is_package else None
            case Outside():
                return Outside(f"{kind.name}.{name}")
            case Object() | Class():
                own = kind.of if isinstance(kind, Object) else kind
                found = self.members(own).bindings.get(name, [])
                kinds = [_member(self, *binding, isinstance(kind, Object)) for binding in found]
                return one_of(kinds)
        return None

    def _result(self, node: ast.Call, scope: Scope) -> Kind | None:
        match self.kind(node.func, scope):
            case Class() as found:
                return Object(found)
            case Callable() as found:
                return _returned(self, found)
            case Outside(name=name):
                same = ("dataclasses.replace", "copy.copy", "copy.deepcopy")
                return self.kind(node.args[0], scope) if name in same and node.args else None
        return None

    def members(self, kind: Class) -> Members:
        if kind not in self._members:
            self._members[kind] = Members({}, (), False, True)  # for circles
            scope = self.definitions[kind.path, kind.name]
            self._members[kind] = read_members(
                self.files[kind.path], scope, self.kind, self.members
            )
        return self._members[kind]


def _parameter(kinds: Kinds, parameter: Parameter, scope: Scope) -> Kind | None:
    owner = scope.parent
    first = positional(parameter.function)[:1]
    if owner and isinstance(owner.node, ast.ClassDef) and first:
        decorators = decorators_of(parameter.function)
        if first[0].arg == parameter.name and "staticmethod" not in decorators:
            own = Class(scope.path, owner.name)
            return own if "classmethod" in decorators else Object(own)
    given = kinds.given.get((id(parameter.function), parameter.name))
    passed = one_of(list(given)) if given else None
    if parameter.annotation is not None and not isinstance(passed, Object):
        return _annotated(kinds, parameter.annotation, scope)
    if given or parameter.name != "config":
        return passed
    found = [Class(path, name) for path, name in kinds.definitions if name == CONFIG]
    return Object(found[0]) if len(found) == 1 else None


def _annotated(kinds: Kinds, node: ast.expr, scope: Scope) -> Kind | None:
    """The object that an annotation promises."""
    match node:
        case ast.Constant(value=str() as text):
            try:
                return _annotated(kinds, ast.parse(text, mode="eval").body, scope)
            except (SyntaxError, ValueError):
                return None
        case ast.Constant(value=None):
            return Nothing()
        case ast.BinOp(op=ast.BitOr()):
            return one_of([_annotated(kinds, side, scope) for side in (node.left, node.right)])
        case ast.Subscript(value=ast.Name(id="Optional")):
            return _annotated(kinds, node.slice, scope)
        case ast.Name() | ast.Attribute():
            kind = kinds.kind(node, scope)
            return Object(kind) if isinstance(kind, Class) else None
    return None


def _returned(kinds: Kinds, function: Callable) -> Kind | None:
    scope = kinds.definitions[function.path, function.name]
    node = scope.node
    assert isinstance(node, FUNCTIONS)
    if node.returns is not None:
        return _annotated(kinds, node.returns, scope)
    values = values_returned(node)
    return one_of([kinds.kind(value, scope) if value else Nothing() for value in values])


@lru_cache(maxsize=4096)
def values_returned(function: Function) -> tuple[ast.expr | None, ...]:
    return tuple(part.value for part in own_nodes(function) if isinstance(part, ast.Return))


def _member(kinds: Kinds, binding: Binding, scope: Scope, bound: bool) -> Kind | None:
    kind = kinds._bound(binding, scope)
    if isinstance(kind, Callable) and isinstance(binding, FUNCTIONS):
        decorators = decorators_of(binding)
        if decorators & {"property", "cached_property"}:
            return _returned(kinds, kind)
        bound = (bound or "classmethod" in decorators) and "staticmethod" not in decorators
        return Callable(kind.path, kind.name, bound)
    return kind


class Project(Kinds):
    """All Python files of a project, and what their functions are called with."""

    def __init__(self, files: Mapping[str, Facts]) -> None:
        super().__init__(files)
        # attributes that are set on objects of a class from outside
        self.added: dict[Class, set[str]] = defaultdict(set)
        for _ in range(2):  # what is passed on is known in the second round
            self._read_calls()

    def _read_calls(self) -> None:
        """Note what each parameter is given."""
        given: dict[tuple[int, str], set[Kind | None]] = defaultdict(set)
        for facts in self.files.values():
            for call, scope in facts.calls:
                function, skipped = self.called(call, scope)
                if function is not None:
                    for name, value in given_to(function, skipped, call):
                        given[id(function), name].add(self.kind(value, scope))
        self.given = given
        self._kinds.clear()
        for facts in self.files.values():
            for node, scope in facts.attributes:
                if isinstance(node.ctx, ast.Store):
                    kind = self.kind(node.value, scope)
                    if isinstance(kind, Object):
                        self.added[kind.of].add(node.attr)

    def called(self, call: ast.Call, scope: Scope) -> tuple[Function | None, int]:
        """The function that a call runs, and how many of its parameters are given already."""
        kind = self.kind(call.func, scope)
        node: object = None
        if isinstance(kind, Class):
            found = self.members(kind).bindings.get("__init__", [])
            node, skipped = found[0][0] if len(found) == 1 else None, 1
        elif isinstance(kind, Callable):
            node, skipped = self.definitions[kind.path, kind.name].node, int(kind.bound)
        return (node, skipped) if isinstance(node, FUNCTIONS) else (None, 0)


def positional(function: Function) -> list[ast.arg]:
    """The parameters that may be given by position."""
    return [*function.args.posonlyargs, *function.args.args]


def given_to(function: Function, skipped: int, call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """The parameters for which a call has values, with these."""
    for parameter, value in zip(positional(function)[skipped:], call.args, strict=False):
        if isinstance(value, ast.Starred):
            break
        yield parameter.arg, value
    for keyword in call.keywords:
        if keyword.arg:
            yield keyword.arg, keyword.value


def is_plain(function: Function) -> bool:
    """Whether a function is called as it is written."""
    return decorators_of(function) <= _PLAIN | {"classmethod", "property", "staticmethod"}
