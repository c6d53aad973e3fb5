"""The statements that lead to a Trainer, in order, and those of them that a value needs."""

import ast
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from scaffold.eject.script import DEFINITIONS, IMPORTS, Script, bound_names, is_text, used_names
from scaffold.errors import ScaffoldError

HARMLESS = {"print", "len", "isinstance", "range", "repr", "str", "sorted"}


@dataclass(frozen=True, eq=False)
class Item:
    """A statement. One without a node binds a parameter: `args = parser.parse_args()`."""

    node: ast.stmt
    bound: frozenset[str]
    used: frozenset[str]
    changed: frozenset[str]  # names whose objects it may change
    text: str = ""  # of a parameter's value

    @property
    def touched(self) -> frozenset[str]:
        return self.bound | self.changed


def item_of(node: ast.stmt, text: str = "") -> Item:
    used = frozenset(used_names(node))
    return Item(node, frozenset(bound_names(node)), used, frozenset(_changed(node)), text)


def _changed(node: ast.stmt) -> set[str]:
    """The names whose objects a statement may change: `model.freeze()`, `init(model)`."""
    if isinstance(node, DEFINITIONS):
        return set()
    found: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, (ast.Assign, ast.AugAssign, ast.Delete)):
            targets = [part.target] if isinstance(part, ast.AugAssign) else part.targets
            found |= {root(t) for t in targets if isinstance(t, (ast.Attribute, ast.Subscript))}
        elif isinstance(part, ast.Expr) and isinstance(part.value, ast.Call):
            call = part.value
            if isinstance(call.func, ast.Attribute):
                found.add(root(call.func))
            if root(call.func) not in HARMLESS:
                values = [*call.args, *(word.value for word in call.keywords)]
                found |= {root(value) for value in values}
        elif isinstance(part, ast.For):
            found.add(root(part.iter))
    return found - {""}


def root(node: ast.AST) -> str:
    """The name that an expression begins with: `model` of `model.layers[0].weight`."""
    while not isinstance(node, ast.Name):
        if isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func
        else:
            return ""
    return node.id


def items_before(script: Script, node: ast.AST) -> list[Item]:
    """The statements of the function of a node, after those that lead to its call."""
    home = script.source.home(node)
    if isinstance(home, ast.Lambda) or not isinstance(home, (ast.FunctionDef, ast.Module)):
        raise ScaffoldError(f"{script.place(node)}: a Trainer in a lambda or coroutine.")
    if isinstance(home, ast.Module):
        return [item_of(part) for part in _module_statements(home)]
    if isinstance(script.source.parents.get(id(home)), ast.ClassDef):
        raise ScaffoldError(
            f"{script.place(node)}: the Trainer is made in a method; move that into a function."
        )
    body = [part for part in home.body if not is_text(part)]
    calls = [c for c in script.source.calls(home.name) if isinstance(c.func, ast.Name)]
    calls = [call for call in calls if script.source.home(call) is not home]
    found = items_before(script, calls[0]) if len(calls) == 1 and home.args.args else []
    found += _parameters(home, calls[0] if len(calls) == 1 else None)
    return found + [item_of(part) for part in body if not isinstance(part, IMPORTS)]


def _module_statements(tree: ast.Module) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    for part in tree.body:
        if isinstance(part, ast.If) and "__name__" in ast.unparse(part.test):
            found += [row for row in part.body if not isinstance(row, IMPORTS)]
        elif not isinstance(part, (*DEFINITIONS, *IMPORTS)) and not is_text(part):
            found.append(part)
    return found


def _parameters(function: ast.FunctionDef, call: ast.Call | None) -> list[Item]:
    """What the parameters of a function are bound to, by its call and its defaults."""
    arguments = function.args
    places = [*arguments.posonlyargs, *arguments.args]
    first = len(places) - len(arguments.defaults)
    values = {p.arg: value for p, value in zip(places[first:], arguments.defaults, strict=True)}
    for word, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if value is not None:
            values[word.arg] = value
    if call is not None:
        values |= {p.arg: value for p, value in zip(places, call.args, strict=False)}
        values |= {word.arg: word.value for word in call.keywords if word.arg}
    found = []
    for name, value in values.items():
        if isinstance(value, ast.Name) and value.id == name:
            continue
        text = f"{name} = {ast.unparse(value)}"
        node = ast.copy_location(ast.parse(text).body[0], value)
        node.value = value  # type: ignore[attr-defined]  # with its place in the script
        found.append(item_of(node, text))
    return found


def needed(items: Sequence[Item], wanted: Collection[str], dropped: Collection[Item]) -> list[Item]:
    """The items that bind or change what these names need, in order."""
    names, found = set(wanted), set[Item]()
    while True:
        before = len(found)
        for item in reversed(items):
            if item not in found and item not in dropped and item.touched & names:
                found.add(item)
                names |= item.used
        if len(found) == before:
            return [item for item in items if item in found]


def value_of(items: Sequence[Item], name: str) -> ast.expr | None:
    """What a name was last bound to alone."""
    for item in reversed(items):
        node = item.node
        if isinstance(node, ast.AnnAssign) and root(node.target) == name:
            return node.value
        if isinstance(node, ast.Assign) and name in item.bound:
            for target in node.targets:
                if isinstance(target, ast.Name):
                    return node.value
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    for part, value in zip(target.elts, node.value.elts, strict=False):
                        if isinstance(part, ast.Name) and part.id == name:
                            return value
            return None
    return None
