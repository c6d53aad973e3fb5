"""Which keys the dicts of a function have at each of its lines, such as `metrics` of the loop.

If an owner's line still reads a key that an update moves elsewhere, or passes the whole dict on,
Python raises no error: a tracker just gets fewer values.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

from scaffold.merge.checks.update import Update
from scaffold.merge.semantics.infer import Project, given_to
from scaffold.merge.semantics.scopes import FUNCTIONS, Scope
from scaffold.merge.semantics.types import Callable
from scaffold.merge.source.parse import last_name, nodes_of, tree_of

_DEPTH = 4  # of calls that are followed


@dataclass(frozen=True)
class Keys:
    """What a dict holds. It may hold other keys too if it is open."""

    names: frozenset[str]
    is_open: bool = False

    def __or__(self, other: "Value") -> "Keys":
        if isinstance(other, Keys):
            return Keys(self.names | other.names, self.is_open or other.is_open)
        return Keys(self.names, True)


Value: TypeAlias = Keys | str | None  # None: unknown


class Names(dict[str, Value]):
    """What names stand for."""

    def __init__(self, values: Mapping[str, Value]) -> None:
        super().__init__(values)
        self.has_dicts = any(isinstance(value, Keys) for value in values.values())

    def __setitem__(self, name: str, value: Value) -> None:
        super().__setitem__(name, value)
        self.has_dicts = self.has_dicts or isinstance(value, Keys)


@dataclass(frozen=True)
class Use:
    """A line that reads a dict."""

    path: str
    function: str
    text: str  # the statement
    name: str  # of the dict
    line: int = field(compare=False)
    keys: Keys = field(compare=False)
    read: frozenset[str] = field(compare=False)  # the keys that it reads; none: it takes all
    needed: frozenset[str] = field(compare=False)  # those of them without which it fails
    is_given: bool = field(compare=False)  # by a caller


def find_lost_keys(update: Update) -> Iterator[tuple[str, str, int]]:
    """Lines that read keys that are no longer there: path, what is wrong, and line."""
    before, after, rendered = update.before, update.after, update.rendered
    files = [path for path, facts in after.files.items() if facts is not before.files.get(path)]
    if not any(path in before.files for path in files):
        return
    had: dict[Use, frozenset[str]] = {}  # keys that are there whoever calls the function
    for use in _Reader(before).uses():
        had[use] = had.get(use, use.keys.names) & use.keys.names
    uses = _Reader(after).uses()
    made = frozenset[str]().union(*(use.keys.names for use in uses))
    told: dict[tuple[str, str], set[str]] = {}  # the keys that a function gets of a dict, anywhere
    for use in uses:
        if not use.read:
            told.setdefault((_callee(use), use.name), set()).update(use.keys.names)
    for use in uses:
        if use.keys.is_open:
            continue
        lost = had.get(use, frozenset()) - use.keys.names
        if use.read & lost:
            for key in sorted(use.read & lost):
                yield use.path, f"{use.name} no longer has {key!r} here", use.line
        elif not use.read and not use.is_given:
            missing = lost & made - told.get((_callee(use), use.name), set())
            if not missing or _is_rendered(use, rendered):
                continue
            named = ", ".join(repr(key) for key in sorted(missing))
            yield use.path, f"{use.name} no longer has {named} here, but elsewhere", use.line
    new = [use for use in uses if use not in had and not use.keys.is_open]
    suspects = [use for use in new if use.needed - use.keys.names and _is_rendered(use, rendered)]
    yield from _missing(suspects, update)


def _missing(suspects: Sequence[Use], update: Update) -> Iterator[tuple[str, str, int]]:
    """New lines that need a key which they have in the project without edits, and not here."""
    fresh: dict[tuple[str, str], set[str]] = {}
    for use in _Reader(update.fresh).uses() if suspects else ():
        fresh.setdefault((use.text, use.name), set()).update(use.keys.names)
    for use in suspects:
        for key in sorted((use.needed - use.keys.names) & fresh.get((use.text, use.name), set())):
            yield use.path, f"{use.name} has no {key!r} here, as this line needs", use.line


def _is_rendered(use: Use, rendered: Mapping[str, str]) -> bool:
    """Whether a line is generated, or prints a generated message: then it reads what it should."""
    said = re.sub(r"\bself\.", "", use.text)  # its owner may have made a class of the function
    lines, message = _lines(rendered.get(use.path, "")), re.search(r"\(f['\"].*", said)
    return said in lines or bool(message and any(line.endswith(message[0]) for line in lines))


@lru_cache(maxsize=64)
def _lines(text: str) -> frozenset[str]:
    """The lines of a file as `ast.unparse` writes them."""
    return frozenset(line.strip() for line in ast.unparse(tree_of(text)).splitlines())


def _callee(use: Use) -> str:
    """What a statement calls, if it is a call; else the statement."""
    found = re.match(r"(?:self\.)?([\w.]+)\(", use.text)
    return found[1] if found else use.text


class _Values:
    """What expressions hold, and which of them are noted."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.found: dict[tuple[Use, Keys], Use] = {}
        self.results: dict[tuple[int, frozenset[tuple[str, Value]]], Value] = {}
        self.depth = 0
        self.in_loop = False
        # of the function that is followed
        self.scope: Scope
        self.given: set[str]  # the parameters that it gets
        self.returned: list[Value]

    def run(self, scope: Scope, given: Mapping[str, Value]) -> Value:
        """Follow a function with these arguments. Returns what it returns."""
        raise NotImplementedError

    def value(self, node: ast.expr, names: Names) -> Value:
        match node:
            case ast.Name():
                return names.get(node.id)
            case ast.Constant() | ast.JoinedStr() | ast.BinOp(op=ast.Add() | ast.Mod()):
                return _text(node, names)
            case ast.Dict():
                return self.literal(node, names)
            case ast.BinOp(op=ast.BitOr()):
                left, right = self.value(node.left, names), self.value(node.right, names)
                return left | right if isinstance(left, Keys) else None
            case ast.DictComp(
                generators=[
                    ast.comprehension(
                        target=ast.Tuple(elts=[ast.Name(id=name), _]),
                        iter=ast.Call(func=ast.Attribute(value=owner, attr="items")),
                        ifs=[],
                    )
                ]
            ):
                old = self.value(owner, names)
                if not isinstance(old, Keys):
                    return None
                texts = {_text(node.key, Names({**names, name: text})) for text in old.names}
                known = frozenset(text for text in texts if text is not None)
                return Keys(known, old.is_open or None in texts)
            case ast.IfExp():
                return _join([self.value(part, names) for part in (node.body, node.orelse)])
            case ast.Call(func=ast.Name(id="dict"), args=[]):
                named = frozenset(keyword.arg for keyword in node.keywords if keyword.arg)
                return Keys(named, any(keyword.arg is None for keyword in node.keywords))
            case ast.Call(func=ast.Name(id="dict"), args=[copied]) | ast.Call(
                func=ast.Attribute(value=copied, attr="copy"), args=[]
            ):
                return self.value(copied, names)
            case ast.Call():
                return self.call(node, names)
        return None

    def literal(self, node: ast.Dict, names: Names) -> Keys:
        keys = Keys(frozenset())
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                keys = keys | self.value(value, names)
            else:
                text = _text(key, names)
                keys = keys | (Keys(frozenset({text})) if text is not None else None)
        return keys

    def call(self, node: ast.Call, names: Names) -> Value:
        """What a function of the project returns for these arguments."""
        kind = self.project.kind(node.func, self.scope)
        function, skipped = self.project.called(node, self.scope)
        if function is None or not isinstance(kind, Callable) or self.depth > _DEPTH:
            return None
        inner = self.project.definitions[kind.path, kind.name]
        given = {
            name: self.value(value, names) for name, value in given_to(function, skipped, node)
        }
        return self.run(inner, {name: value for name, value in given.items() if value is not None})

    def note(self, node: ast.stmt, parts: Sequence[ast.AST], names: Names) -> None:
        """Note which dicts a statement reads, and follow the calls in it."""
        if not names.has_dicts:
            return
        read: dict[str, set[str]] = {}
        needed: set[tuple[str, str]] = set()
        whole: set[str] = set()
        inside: set[int] = set()
        returned = isinstance(node, ast.Return)  # who calls the function reads it, or does not
        nodes = [node for part in parts for node in nodes_of(part)]
        for part in nodes:
            key = _read_key(part, names)
            if key is not None:
                name, text, owner = key
                read.setdefault(name, set()).add(text)
                needed |= {(name, text)} if isinstance(part, ast.Subscript) else set()
                inside.add(owner)
            elif isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store):
                inside.add(id(part.value))  # to set a key needs no other one
            elif isinstance(part, ast.Call) and isinstance(node, ast.Expr):
                if last_name(part.func) in ("update", "clear"):
                    inside |= {id(inner) for inner in ast.iter_child_nodes(part.func)}
                self.call(part, names)
        for part in nodes:
            if isinstance(part, ast.Name) and id(part) not in inside and not returned:
                is_read = isinstance(part.ctx, ast.Load) and isinstance(names.get(part.id), Keys)
                whole |= {part.id} if is_read else set()
        if not read and not whole:
            return
        text = ast.unparse(parts[0] if len(parts) == 1 else node).partition("\n")[0]
        for name in {*read, *whole}:
            keys = names[name]
            assert isinstance(keys, Keys)
            found = frozenset(read.get(name, ()))
            hard = frozenset(key for owner, key in needed if owner == name)
            given = name in self.given
            use = Use(
                self.scope.path, self.scope.name, text, name, node.lineno, keys, found, hard, given
            )
            self.found.setdefault((use, keys), use)


class _Reader(_Values):
    """Follows the statements of each function."""

    def uses(self) -> list[Use]:
        for facts in self.project.files.values():
            for scope in facts.scopes.values():
                if isinstance(scope.node, FUNCTIONS):
                    self.run(scope, {})
        return list(self.found.values())

    def run(self, scope: Scope, given: Mapping[str, Value]) -> Value:
        assert isinstance(scope.node, FUNCTIONS)
        key = (id(scope), frozenset(given.items()))
        if key in self.results:
            return self.results[key]
        self.results[key] = None  # for what calls itself
        inner = copy(self)
        inner.scope, inner.given, inner.returned = scope, set(given), []
        inner.depth += 1
        inner.body(scope.node.body, Names(given))
        self.results[key] = _join(inner.returned)
        return self.results[key]

    def body(self, body: Sequence[ast.stmt], names: Names) -> None:
        for node in body:
            self.statement(node, names)

    def statement(self, node: ast.stmt, names: Names) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return
            case ast.If():
                self.note(node, [node.test], names)
                self.branches([node.body, node.orelse], names)
            case ast.For() | ast.AsyncFor() | ast.While():
                head = node.test if isinstance(node, ast.While) else node.iter
                self.note(node, [head], names)
                if not isinstance(node, ast.While):
                    _forget(node.target, names)
                # a second time, for what one round leaves to the next
                twice = [] if self.in_loop else node.body
                outer, self.in_loop = self.in_loop, True
                self.branches([[*node.body, *twice], []], names)
                self.in_loop = outer
                self.body(node.orelse, names)
            case ast.With() | ast.AsyncWith():
                self.note(node, [item.context_expr for item in node.items], names)
                self.body(node.body, names)
            case ast.Try():
                self.body(node.body, names)
                handlers = [handler.body for handler in node.handlers]
                self.branches([node.orelse, *handlers], names)
                self.body(node.finalbody, names)
            case ast.Match():
                self.note(node, [node.subject], names)
                self.branches([[], *(case.body for case in node.cases)], names)
            case _:
                self.note(node, [node], names)
                self.simple(node, names)

    def branches(self, bodies: Sequence[list[ast.stmt]], names: Names) -> None:
        """Follow each of several bodies, and keep what one of them may have left."""
        ends = [Names(names) for _ in bodies]
        for body, end in zip(bodies, ends, strict=True):
            self.body(body, end)
        changed = {
            name
            for end in ends
            for name, value in end.items()
            if name not in names or names[name] is not value
        }
        for name in changed:
            names[name] = _join([end[name] for end in ends if name in end])

    def simple(self, node: ast.stmt, names: Names) -> None:
        match node:
            case ast.Return():
                self.returned.append(self.value(node.value, names) if node.value else None)
            case ast.Assign(targets=[ast.Subscript() as target]):
                self.set_item(target, names)
            case ast.Assign(targets=[ast.Name() as target]):
                names[target.id] = self.value(node.value, names)
            case ast.AnnAssign(target=ast.Name() as target) if node.value is not None:
                names[target.id] = self.value(node.value, names)
            case ast.AugAssign(target=ast.Name() as target):
                old, new = names.get(target.id), self.value(node.value, names)
                names[target.id] = old | new if isinstance(old, Keys) else None
            case ast.Delete(targets=[ast.Subscript(value=ast.Name(id=name), slice=key)]):
                self.remove(name, key, names)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name))) as call):
                self.method(name, call, names)
            case ast.Assign():
                for part in node.targets:
                    _forget(part, names)

    def method(self, name: str, call: ast.Call, names: Names) -> None:
        """`metrics.update(...)` and the like."""
        old = names.get(name)
        if not isinstance(old, Keys) or not isinstance(call.func, ast.Attribute):
            return
        if call.func.attr == "update":
            for value in call.args:
                old = old | self.value(value, names)
            named = frozenset(keyword.arg for keyword in call.keywords if keyword.arg)
            is_open = any(keyword.arg is None for keyword in call.keywords)
            names[name] = old | Keys(named, is_open)
        elif call.func.attr == "pop" and call.args:
            self.remove(name, call.args[0], names)
        elif call.func.attr == "setdefault":
            names[name] = Keys(old.names, True)
        elif call.func.attr == "clear":
            names[name] = Keys(frozenset())

    def remove(self, name: str, key: ast.expr, names: Names) -> None:
        old, text = names.get(name), _text(key, names)
        if isinstance(old, Keys) and text is not None:
            names[name] = Keys(old.names - {text}, old.is_open)

    def set_item(self, target: ast.Subscript, names: Names) -> None:
        if isinstance(target.value, ast.Name):
            old, key = names.get(target.value.id), _text(target.slice, names)
            if isinstance(old, Keys):
                names[target.value.id] = old | (Keys(frozenset({key})) if key else None)


def _read_key(node: ast.AST, names: Names) -> tuple[str, str, int] | None:
    """The dict and the key that `metrics["loss"]` and the like read, and the id of its name."""
    match node:
        case ast.Subscript(value=ast.Name() as owner, slice=key, ctx=ast.Load()):
            pass
        case ast.Call(func=ast.Attribute(value=ast.Name() as owner, attr="get"), args=[key, *_]):
            pass
        case ast.Compare(left=key, ops=[ast.In() | ast.NotIn()], comparators=[ast.Name() as owner]):
            pass
        case _:
            return None
    text = _text(key, names)
    if text is None or not isinstance(names.get(owner.id), Keys):
        return None
    return owner.id, text, id(owner)


def _text(node: ast.expr, names: Names) -> str | None:
    """A string that is written out, or put together from what is known."""
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.Name():
            value = names.get(node.id)
            return value if isinstance(value, str) else None
        case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
            return _text(value, names)
        case ast.JoinedStr():
            parts = [_text(part, names) for part in node.values]
            return None if None in parts else "".join(part or "" for part in parts)
        case ast.BinOp(left=left, op=ast.Add() | ast.Mod() as operator, right=right):
            first, second = _text(left, names), _text(right, names)
            if first is None or second is None:
                return None
            return first + second if isinstance(operator, ast.Add) else first.replace("%s", second)
    return None


def _join(values: Sequence[Value]) -> Value:
    """What one of these may be."""
    found = [value for value in values if isinstance(value, Keys)]
    if not found or len(found) < len(values):
        same = set(values)
        return same.pop() if len(same) == 1 else None
    joined = found[0]
    for value in found[1:]:
        joined = joined | value
    return joined


def _forget(target: ast.expr, names: Names) -> None:
    for node in nodes_of(target):
        if isinstance(node, ast.Name):
            names.pop(node.id, None)
