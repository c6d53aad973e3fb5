"""Calls of functions that changed, with their results or arguments as they were.

New calls of the owner's functions, which return something else (a pair, nothing, a dict) or take
their arguments in another order; and the owner's calls of functions that return nothing any more.
"""

import ast
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache

from scaffold.merge.checks.update import Update
from scaffold.merge.semantics.effects import own_nodes
from scaffold.merge.semantics.infer import Project, positional
from scaffold.merge.semantics.names import is_test
from scaffold.merge.semantics.scopes import FUNCTIONS, Facts, Function, Scope
from scaffold.merge.source.parse import nodes_of, parse, statements_of, targets_of


def new_calls_misread(update: Update) -> Iterator[tuple[str, str, int]]:
    """Calls that an update brings, as it renders them: path, what is wrong, and line."""
    before, after = update.before, update.after
    changed = {path for path, facts in after.files.items() if before.files.get(path) is not facts}
    found = list(_results(after, changed))
    had = {text for _, text, _, _ in _results(before)} if found else set()
    found = [row for row in found if row[1] not in had]
    shapes = _results(update.fresh) if found else ()
    meant = {(text, called): shape for _, text, called, shape in shapes}
    for (path, line), text, called, shape in found:
        other = meant.get((text, called))
        if other and shape != other:
            yield path, f"{called}() returns {shape}, and this line needs {other}", line


def lost_results(update: Update) -> Iterator[tuple[str, str, int]]:
    """Lines that need what a function no longer returns: path, what is wrong, and line."""
    before, after = update.before, update.after
    gone = {
        scope.node
        for place, scope in after.definitions.items()
        if isinstance(scope.node, FUNCTIONS)
        and not _gives_value(scope.node)
        and place in before.definitions
        and _gives_value(before.definitions[place].node)
    }
    for (path, line), _, called, function in _used_calls(after) if gone else ():
        if function in gone:
            yield path, f"{called}() no longer returns a value, and this line needs one", line


def _gives_value(node: ast.AST) -> bool:
    """Whether a function returns anything but None, or is a generator."""
    own = own_nodes(node) if isinstance(node, FUNCTIONS) else ()
    return any(
        isinstance(part, ast.Yield | ast.YieldFrom)
        or (isinstance(part, ast.Return) and _shape(part.value, []) != "nothing")
        for part in own
    )


def misplaced_arguments(update: Update) -> Iterator[tuple[str, str, int]]:
    """New calls whose arguments the owner's function takes in another order."""
    before, after = update.before.files, update.after
    for path, facts in after.files.items():
        if before.get(path) is facts or is_test(path) or path not in update.rendered:
            continue
        had = {ast.dump(call) for call, _ in _longer(before[path])} if path in before else set()
        new = [row for row in _longer(facts) if ast.dump(row[0]) not in had]
        tree = parse(update.rendered[path] if new else "")
        calls = (node for node in nodes_of(tree) if isinstance(node, ast.Call))
        meant = {ast.dump(node) for node in calls if len(node.args) > 1}
        for call, scope in new:
            function, skipped = after.called(call, scope)
            if function is None or ast.dump(call) not in meant:
                continue
            ours, theirs = _places(function), _places_of(function.name, update.rendered)
            pairs = [*zip(ours[skipped:], theirs[skipped:], call.args, strict=False)]
            moved = [row for row in pairs if row[0] != row[1] and {*row[:2]} <= {*ours} & {*theirs}]
            if moved:
                called, (name, _, value) = ast.unparse(call.func), moved[0]
                yield path, f"{called}(...) passes {ast.unparse(value)} as {name}", call.lineno


def _longer(facts: Facts) -> list[tuple[ast.Call, Scope]]:
    """The calls with several arguments by position."""
    return [row for row in facts.calls if len(row[0].args) > 1]


def _places(function: Function) -> list[str]:
    return [argument.arg for argument in positional(function)]


def _places_of(name: str, files: Mapping[str, str]) -> list[str]:
    """The arguments of a function by its name, if there is one of this name."""
    texts = [text for path, text in files.items() if f"def {name}(" in text and not is_test(path)]
    found = [
        node
        for text in texts
        for node in nodes_of(parse(text))
        if isinstance(node, ast.FunctionDef) and node.name == name
    ]
    return _places(found[0]) if len(found) == 1 else []


def _results(
    project: Project, paths: Collection[str] | None = None
) -> Iterator[tuple[tuple[str, int], str, str, str]]:
    """Statements whose calls return something known: place, text, the call's name, its shape."""
    for place, statement, called, function in _used_calls(project, paths):
        if shape := shape_of(function):
            yield place, ast.unparse(statement), called, shape


def _used_calls(
    project: Project, paths: Collection[str] | None = None
) -> Iterator[tuple[tuple[str, int], ast.stmt, str, Function]]:
    """Statements that use what functions of the project return: place, statement, function."""
    for path, facts in project.files.items():
        if is_test(path) or (paths is not None and path not in paths):
            continue  # of a test, pytest says it
        scopes = {id(call): scope for call, scope in facts.calls}
        for statement in statements_of(facts.tree):
            if not isinstance(statement, ast.Expr | ast.Assign | ast.AugAssign | ast.Return):
                continue
            unused = statement.value if isinstance(statement, ast.Expr) else None
            for call in nodes_of(statement):
                if not isinstance(call, ast.Call) or id(call) not in scopes or call is unused:
                    continue
                function, _ = project.called(call, scopes[id(call)])
                if function is not None and function.name != "__init__":
                    yield (path, statement.lineno), statement, function.name, function


@lru_cache(maxsize=4096)
def shape_of(function: Function) -> str:
    """What all returns of a function give, in words, or nothing if that is not plain to see."""
    own = own_nodes(function)
    if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in own):
        return ""
    values = [node.value for node in own if isinstance(node, ast.Return)]
    shapes = {_shape(value, own) for value in values}
    if not shapes - {"nothing"}:
        end = function.body[-1]
        last = end.value if isinstance(end, ast.Expr) else end
        is_stub = isinstance(last, ast.Raise | ast.Pass | ast.Constant)  # others write it
        return "" if is_stub else "nothing"
    return shapes.pop() if len(shapes) == 1 else ""


def _shape(value: ast.expr | None, own: list[ast.AST]) -> str:
    match value:
        case None | ast.Constant(value=None):
            return "nothing"
        case ast.Tuple() if not any(isinstance(item, ast.Starred) for item in value.elts):
            return f"{len(value.elts)} values"
        case ast.Dict() | ast.DictComp() | ast.Call(func=ast.Name(id="dict")):
            return "a dict"
        case ast.Constant() | ast.JoinedStr() | ast.Call(func=ast.Name(id="float" | "int" | "len")):
            return "one value"
        case ast.BinOp(op=ast.Div()):
            return "one value"
        case ast.BinOp(op=ast.BitOr()):
            sides = _shape(value.left, own), _shape(value.right, own)
            return "a dict" if "a dict" in sides else ""
        case ast.Name():
            given = [
                node.value
                for node in own
                if isinstance(node, ast.Assign | ast.AnnAssign)
                for target in targets_of(node)
                if isinstance(target, ast.Name) and target.id == value.id
            ]
            shapes = {_shape(item, []) for item in given}
            return shapes.pop() if len(shapes) == 1 else ""
    return ""
