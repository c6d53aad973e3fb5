"""The statements that lead to a Trainer, in order, and those of them that a value needs."""

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from scaffold.eject.script import (
    DEFINITIONS,
    IMPORTS,
    Script,
    bound_names,
    is_main,
    is_text,
    used_names,
)

HARMLESS = {"print", "pprint", "display", "len", "isinstance", "range", "repr", "str", "sorted"}


@dataclass(frozen=True, eq=False)
class Item:
    """A statement. One with a text binds a parameter: `args = parser.parse_args()`."""

    node: ast.stmt
    bound: frozenset[str]
    used: frozenset[str]
    changed: frozenset[str]  # names whose objects it may change
    text: str = ""

    @property
    def touched(self) -> frozenset[str]:
        return self.bound | self.changed


def item_of(node: ast.stmt, text: str = "") -> Item:
    return Item(node, bound_names(node), used_names(node), frozenset(_changed(node)) - {""}, text)


def _changed(node: ast.stmt) -> Iterator[str]:
    """The names whose objects a statement may change: `model.freeze()`, `init(model)`."""
    for part in () if isinstance(node, DEFINITIONS) else ast.walk(node):
        if isinstance(part, (ast.Attribute, ast.Subscript)) and not isinstance(part.ctx, ast.Load):
            yield root(part)
        elif isinstance(part, ast.For):
            yield root(part.iter)
        elif isinstance(part, ast.Expr) and isinstance(call := part.value, ast.Call):
            if isinstance(call.func, ast.Attribute):
                yield root(call.func)
            if root(call.func) not in HARMLESS:
                yield from map(root, [*call.args, *(word.value for word in call.keywords)])


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
    if isinstance(home, ast.Module):
        return module_items(home)
    above = script.source.parents[id(home)]
    if not isinstance(home, ast.FunctionDef) or isinstance(above, ast.ClassDef):
        raise script.error(node, "the Trainer is made in a method: move that into a function.")
    call = next(iter(calls_to(script, home)), None)
    found = items_before(script, call) if call and home.args.args else []
    ends = [n for n, item in enumerate(found) if any(p is call for p in ast.walk(item.node))]
    del found[min(ends, default=0) :]  # what follows the call is of no interest
    found += _parameters(home, call)
    body = [part for part in home.body if not isinstance(part, IMPORTS) and not is_text(part)]
    return found + [item_of(part) for part in body]


def calls_to(script: Script, function: ast.AST) -> list[ast.Call]:
    """The calls of a function of the script, outside of it, in the order of lines."""
    found, home = script.source.calls(getattr(function, "name", "")), script.source.home
    found = [c for c in found if isinstance(c.func, ast.Name) and home(c) is not function]
    return sorted(found, key=lambda call: call.lineno)


def module_items(tree: ast.Module) -> list[Item]:
    rows = []
    for part in tree.body:
        rows += part.body if isinstance(part, ast.If) and is_main(part) else [part]
    return [item_of(r) for r in rows if not (isinstance(r, (*DEFINITIONS, *IMPORTS)) or is_text(r))]


def _parameters(function: ast.FunctionDef, call: ast.Call | None) -> Iterator[Item]:
    """What the parameters of a function are bound to, by its call and its defaults."""
    names = [part.arg for part in function.args.args]
    values = defaults_of(function) | (words(call, names) if call else {})
    for name, value in values.items():
        if getattr(value, "id", "") != name:
            text = f"{name} = {ast.unparse(value)}"
            node = ast.Assign([ast.Name(name, ast.Store())], value)  # in its place in the script
            yield item_of(ast.copy_location(node, value), text)


def defaults_of(function: ast.FunctionDef) -> dict[str, ast.expr]:
    """The defaults of the parameters of a function."""
    names = [part.arg for part in function.args.args]
    return dict(zip(reversed(names), reversed(function.args.defaults), strict=False))


def needed(items: list[Item], wanted: Collection[str], gone: Collection[str] = ()) -> list[Item]:
    """The items that bind or change what these names need, in order; but not for those gone."""
    names, found, before = set(wanted), set[Item](), -1
    while len(found) != before:
        before = len(found)
        for item in reversed(items):
            if item not in found and item.touched & names:
                found.add(item)
                names |= item.used.difference(gone)
    return [item for item in items if item in found]


def value_of(node: ast.stmt | None, name: str) -> ast.expr | None:
    """What a statement binds a name to, if it does nothing else with it."""
    match node:
        case ast.AnnAssign(value=value) | ast.Assign(targets=[ast.Name()], value=value):
            return value
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            found = [getattr(target, "id", "") for target in targets]
            return values[found.index(name)] if name in found else None
    return None


def words(call: ast.AST | None, names: Collection[str] = ()) -> dict[str, ast.expr]:
    """The arguments of a call by name; `names` are those of its first parameters."""
    if not isinstance(call, ast.Call):
        return {}
    found = dict(zip(names, call.args, strict=False))
    return found | {word.arg: word.value for word in call.keywords if word.arg}
