"""Local names that a function uses before it sets them, or where it may not have set them."""

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from scaffold.merge.semantics.scopes import FUNCTIONS, Facts, Parameter
from scaffold.merge.source.parse import LOOPS, children_of, nodes_of, statements_of

_TURNS = (ast.Return, ast.Raise, ast.Break, ast.Continue)  # no code below them runs
_EXITS = ("sys.exit", "exit", "pytest.fail", "parser.error")  # calls that never return


def used_too_early(facts: Facts) -> Iterator[tuple[str, int]]:
    """Each name that is used before it is set, and the line of its first use."""
    for body, names, seen in _functions(facts):
        early: dict[str, int] = {}
        for name, line, is_set in _uses(*body):
            if is_set:
                seen.add(name)
            elif name in names and name not in seen:
                early.setdefault(name, line)
        for name, line in early.items():
            if name in seen:  # it is local
                yield name, line


def may_be_unset(facts: Facts) -> Iterator[tuple[str, int]]:
    """Each name that is only set under a condition above its use, and the line of that."""
    for body, names, seen in _functions(facts):
        run = _Run({}, {})
        run.block(body, seen)
        local = _set_in(body) & {*names}
        yield from ((name, line) for name, line in run.unsure.items() if name in local)


def kept_in_loop(loop: ast.For | ast.While, below: Collection[str]) -> Iterator[str]:
    """The names whose values a round gets from the one before it: which it reads before it sets
    them, or appends to. And of those that are read `below` the loop, which not each round sets."""
    run = _Run({}, {})
    sure = run.block(loop.body, set()) or set()
    changed = _set_in(loop.body)
    for node in nodes_of(ast.Module(loop.body, [])):
        match node:
            case ast.Call(ast.Attribute(ast.Name(name), "append" | "extend")):
                changed.add(name)
            case ast.Subscript(ast.Name(name), ctx=ast.Store()):
                changed.add(name)
    yield from changed & ({*run.unsure} | ({*below} - sure))


def _functions(facts: Facts) -> Iterator[tuple[list[ast.stmt], Collection[str], set[str]]]:
    """The body of each function, its names, and those that are set from the start."""
    for scope in facts.scopes.values():
        if isinstance(scope.node, FUNCTIONS):
            seen = {name for name, found in scope.names.items() if isinstance(found[0], Parameter)}
            for node in statements_of(ast.Module(scope.node.body, [])):
                if isinstance(node, ast.Global | ast.Nonlocal):
                    seen |= set(node.names)
            yield scope.node.body, scope.names, seen


@dataclass
class _Run:
    """A run through a function, in which each loop runs once."""

    unsure: dict[str, int]  # names that may not be set, with the lines of their first uses
    known: dict[str, set[str]]  # what is set if a condition holds

    def block(self, body: Iterable[ast.stmt], sure: set[str]) -> set[str] | None:
        """The names that are set at the end of a block. None if its end is never reached."""
        now = set(sure)
        for node in body:
            head, blocks = _blocks(node)
            for name, line, is_set in _uses(*head):
                if is_set:
                    now.add(name)
                elif name not in now:
                    self.unsure.setdefault(name, line)
            if isinstance(node, _TURNS) or _exits(node):
                return None
            if not blocks:
                continue
            test = ast.unparse(node.test) if isinstance(node, ast.If) else ""
            others = now | _set_in(node.body) if isinstance(node, ast.Try) else now
            starts = [now | self.known.get(test, set()), *[others] * len(blocks)]
            ends = list(map(self.block, blocks, starts))
            if test and ends[0]:
                self.known.setdefault(test, set()).update(ends[0])
            reached = [end for end in ends if end is not None]
            if not reached and not isinstance(node, LOOPS):
                return None
            now = set.intersection(*reached) if reached else now
            if isinstance(node, ast.Try):
                now = self.block(node.finalbody, now) or now
        return now


def _blocks(node: ast.stmt) -> tuple[Iterable[ast.AST], list[list[ast.stmt]]]:
    """What a statement does first, and the blocks of which it then runs one."""
    match node:
        case ast.If(orelse=[ast.If(orelse=[]) as last]):  # one of several branches, so far
            return [node.test, last.test], [node.body, last.body]
        case ast.If():
            return [node.test], [node.body, node.orelse]
        case ast.For() | ast.AsyncFor():
            return [node.iter, node.target], [[*node.body, *node.orelse]]
        case ast.While():
            return [node.test], [[*node.body, *node.orelse]]
        case ast.With() | ast.AsyncWith():
            return node.items, [node.body]
        case ast.Try():
            return [], [[*node.body, *node.orelse], *map(_handled, node.handlers)]
        case ast.Match():
            patterns = [row.pattern for row in node.cases]
            return [node.subject, *patterns], [*(row.body for row in node.cases), []]
    return [node], []


def _set_in(body: list[ast.stmt]) -> set[str]:
    return {name for name, _, is_set in _uses(*body) if is_set}


def _uses(*nodes: ast.AST) -> list[tuple[str, int, bool]]:
    """Names in the order in which they are used or set, as if each block ran once."""
    found = []
    rest = [*reversed(nodes)]
    while rest:
        node = rest.pop()
        match node:
            case ast.Name():
                found.append((node.id, node.lineno, not isinstance(node.ctx, ast.Load)))
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found.append((node.name, node.lineno, True))
            case ast.AugAssign(target=ast.Name(id=name)):
                found.append((name, node.lineno, False))
            case ast.ExceptHandler(name=str() as name) | ast.MatchAs(name=str() as name):
                found.append((name, node.lineno, True))
            case ast.MatchStar(name=str() as name):
                found.append((name, node.lineno, True))
        rest += reversed(_parts(node))
    return found


def _parts(node: ast.AST) -> Sequence[ast.AST]:
    """What runs in a node, in this order."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Lambda():
            return ()  # its names are its own
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return ()
        case ast.Assign():
            return (node.value, *node.targets)
        case ast.AnnAssign():
            return (node.value, node.target) if node.value else ()
        case ast.AugAssign() | ast.NamedExpr():
            return (node.value, node.target)
        case ast.For() | ast.AsyncFor():
            return (node.iter, node.target, *node.body, *node.orelse)
    return children_of(node)


def _handled(node: ast.ExceptHandler) -> list[ast.stmt]:
    """The block of an `except`, which first sets its name."""
    if not node.name:
        return node.body
    name = ast.copy_location(ast.Name(node.name, ast.Store()), node)
    return [ast.Expr(name), *node.body]


def _exits(node: ast.stmt) -> bool:
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and ast.unparse(call.func) in _EXITS
