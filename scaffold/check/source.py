"""One file to check: its tree, and what its names stand for. Nothing is executed."""

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from scaffold.merge.semantics.infer import Project
from scaffold.merge.semantics.scopes import FUNCTIONS, Imported, Parameter, Scope, read_facts
from scaffold.merge.semantics.types import Object
from scaffold.merge.source.notebooks import NOTEBOOK, cell_of, notebook_code
from scaffold.merge.source.parse import parse

__all__ = ["FUNCTIONS", "Parameter", "Source", "is_constant", "is_mean", "last", "named", "plain"]
__all__ += ["word"]
PLAIN = ("cpu", "detach", "float", "item", "to")
USUAL = {"torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional"}  # imported elsewhere


class Source:
    """A Python file or notebook. Raises SyntaxError if it is neither."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.is_notebook = path, path.endswith(NOTEBOOK)
        self.text = notebook_code(text) if self.is_notebook else text
        parse(self.text)  # says where an error is
        facts = read_facts(path, self.text)
        assert facts is not None
        self.facts, self.tree = facts, facts.tree
        self.parents: dict[int, ast.AST] = {}
        self._nodes: dict[type, list[ast.AST]] = {}
        self._origins: dict[int, frozenset[str]] = {}
        self._within: dict[int, tuple[ast.AST, ...]] = {}
        for node in ast.walk(self.tree):
            self._nodes.setdefault(type(node), []).append(node)
            for child in ast.iter_child_nodes(node):
                self.parents[id(child)] = node

    def all(self, kind: type[ast.AST]) -> list[ast.AST]:
        """The nodes of one kind."""
        return self._nodes.get(kind, [])

    @cached_property
    def project(self) -> Project:
        return Project({self.path: self.facts})

    @cached_property
    def given(self) -> dict[tuple[int, str], list[ast.expr]]:
        """The values that each parameter of a function of this file gets in it."""
        found: dict[tuple[int, str], list[ast.expr]] = {}
        for call, scope in self.facts.calls:
            function, skipped = self.project.called(call, scope)
            if function is not None:
                places = [*function.args.posonlyargs, *function.args.args][skipped:]
                pairs = [(p.arg, value) for p, value in zip(places, call.args, strict=False)]
                for name, value in [*pairs, *((w.arg or "", w.value) for w in call.keywords)]:
                    found.setdefault((id(function), name), []).append(value)
        return found

    @cached_property
    def called(self) -> dict[str, list[ast.Call]]:
        """The calls of this file, by the last word of what they call."""
        found: dict[str, list[ast.Call]] = {}
        for call, _ in self.facts.calls:
            found.setdefault(last(call.func), []).append(call)
        return found

    def calls(self, *names: str) -> list[ast.Call]:
        return [call for name in names for call in self.called.get(name, [])]

    def place(self, line: int) -> str:
        """A line as people look for it: of a notebook, the cell and the line in it."""
        if not self.is_notebook:
            return str(line)
        cell = cell_of(self.text, line)
        return f"{cell}:{line - self.text[: self.text.index(f'# {cell}')].count(chr(10)) - 1}"

    def within(self, node: ast.AST) -> tuple[ast.AST, ...]:
        """The nodes in a node, in order of lines, without those of functions in it."""
        if id(node) not in self._within:
            self._within[id(node)] = tuple(_within(node))
        return self._within[id(node)]

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, from the inside out."""
        while (found := self.parents.get(id(node))) is not None:
            yield found
            node = found

    def entered(self, node: ast.AST) -> list[ast.AST]:
        """What stands in functions of this file that are called by `with` around a node."""
        items = [item.context_expr for n in self.above(node) for item in getattr(n, "items", [])]
        calls = [value for value in items if isinstance(value, ast.Call)]
        found = [self.project.called(call, self.scope(call))[0] for call in calls]
        return [part for function in found if function for part in self.within(function)]

    def home(self, node: ast.AST) -> ast.AST:
        """The function or module that a node is in."""
        return next((n for n in self.above(node) if isinstance(n, FUNCTIONS)), self.tree)

    def scope(self, node: ast.AST) -> Scope:
        scopes = self.facts.scopes
        return next((scopes[id(n)] for n in self.above(node) if id(n) in scopes), self.facts.top)

    def bindings(self, node: ast.expr) -> Iterator[object]:
        """What a name, or an attribute of an own object, is bound to; in order."""
        scope: Scope | None = self.scope(node)
        if isinstance(node, ast.Name):
            while scope is not None and node.id not in scope.names:
                scope = scope.parent
            yield from scope.names[node.id] if scope is not None else ()
        elif isinstance(node, ast.Attribute) and scope is not None:
            kind = self.project.kind(node.value, scope)
            if isinstance(kind, Object):
                found = self.project.members(kind.of).bindings.get(node.attr, [])
                yield from (binding for binding, _ in found)

    def values(self, node: ast.expr) -> Iterator[ast.expr]:
        """The expressions that a name can stand for, also as a parameter."""
        for binding in self.bindings(node):
            if isinstance(binding, Parameter):
                yield from self.given.get((id(binding.function), binding.name), [])
            elif isinstance(binding, ast.expr):
                yield binding

    def latest(self, node: ast.expr) -> list[ast.expr]:
        """An expression, or what its name was last bound to above."""
        return [node, *[value for value in self.values(node) if value.lineno < node.lineno][-1:]]

    def assigned(self, node: ast.expr) -> list[ast.expr]:
        """What is assigned, or added, to a name or attribute above, in its function."""
        found = []
        for row in self.within(self.home(node)):
            if isinstance(row, ast.Assign | ast.AugAssign) and row.lineno < node.lineno:
                targets = row.targets if isinstance(row, ast.Assign) else [row.target]
                parts = [part for target in targets for part in (target, *self.within(target))]
                same = [part for part in parts if last(part) == last(node)]
                if any(ast.unparse(part) == ast.unparse(node) for part in same):
                    found.append(row.value)
        return found

    def origins(self, node: ast.expr) -> frozenset[str]:
        """What an expression can be, by names of other packages: `torch.optim.SGD()`."""
        if id(node) not in self._origins:
            self._origins[id(node)] = frozenset()  # for what refers to itself
            self._origins[id(node)] = frozenset(self._find_origins(node))
        return self._origins[id(node)]

    def _find_origins(self, node: ast.expr) -> Iterator[str]:
        if isinstance(node, ast.Call):
            yield from (f"{name}()" for name in self.origins(node.func))
        elif isinstance(node, ast.Attribute):
            yield from (f"{name}.{node.attr}" for name in self.origins(node.value))
        elif isinstance(node, ast.IfExp):
            yield from self.origins(node.body) | self.origins(node.orelse)
        bindings = list(self.bindings(node))
        if isinstance(node, ast.Name) and not bindings and node.id in USUAL:
            yield USUAL[node.id]
        for binding in bindings:
            if isinstance(binding, Imported):
                yield f"{binding.module}.{binding.name}".rstrip(".")
            elif isinstance(binding, Parameter) and binding.annotation is not None:
                yield from (f"{name}()" for name in self.origins(binding.annotation))
        for value in self.values(node):
            yield from self.origins(value)

    def is_a(self, node: ast.expr, *ends: str) -> bool:
        """Whether an expression can be something with a name that ends like this."""
        return any(name.endswith(ends) for name in self.origins(node))


def _within(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
            yield from _within(child)


def last(node: ast.AST | None) -> str:
    """The last word of a name: `step` of `self.optimizer.step`."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=inner) | ast.Subscript(value=inner) | ast.Starred(value=inner):
            return last(inner)
    return ""


def plain(node: ast.expr) -> ast.expr:
    """A value without what keeps its number: `loss` of `float(loss.detach())`."""
    while isinstance(node, ast.Call) and last(node.func) in PLAIN:
        if not isinstance(node.func, ast.Attribute) and not node.args:
            break
        node = node.func.value if isinstance(node.func, ast.Attribute) else node.args[0]
    return node


def is_mean(node: ast.expr) -> bool:
    """Whether this is the mean over a whole batch; with arguments, it is over some dimensions."""
    node = plain(node)
    if not isinstance(node, ast.Call) or node.keywords:
        return False
    owned = isinstance(node.func, ast.Attribute) and last(node.func.value) not in ("torch", "np")
    return last(node.func) in ("mean", "nanmean") and len(node.args) == (0 if owned else 1)


def named(node: ast.AST | str | None, pattern: str) -> bool:
    """Whether the last word of a name has one of these parts, between underscores or at an end."""
    word = node if isinstance(node, str) else last(node)
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", word).lower()
    return bool(re.search(rf"(?:^|_)(?:{pattern})(?:$|_|\d)", words))


def word(call: ast.Call, *names: str) -> ast.expr | None:
    """The keyword argument with one of these names."""
    return next((found.value for found in call.keywords if found.arg in names), None)


def is_constant(node: ast.AST | None, *values: object) -> bool:
    return isinstance(node, ast.Constant) and (type(node.value), node.value) in [
        (type(value), value) for value in values
    ]
