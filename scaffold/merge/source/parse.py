"""Reads Python of any version, whichever version runs this.

`ast` knows the syntax of the running Python only. black's parser knows all of it, so newer syntax
is written as older syntax that binds and uses the same names, on the same lines. The result is for
analysis alone: nobody sees it. (parso has no `type` statement, nested quotes in f-strings or
t-strings yet. LibCST reads 15,000 lines in 5.5 s, and finds positions and scopes in 25 s more;
`ast` and `tokenize` take one second.)
"""

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

LOOPS = (ast.For, ast.AsyncFor, ast.While)
_STRINGS = ("fstring", "tstring")


@lru_cache(maxsize=128)
def parse(text: str) -> ast.Module:
    """The syntax tree of a file. Raises SyntaxError if it is not Python of any version."""
    try:
        return ast.parse(text)
    except ValueError as error:  # a zero byte, or bytes that are not text
        raise SyntaxError(str(error)) from None
    except SyntaxError as error:
        older = _as_older(text)
        if older is None:
            raise
        try:
            return ast.parse(older)
        except (SyntaxError, ValueError):
            raise error from None


def tree_of(text: str) -> ast.Module:
    """The syntax tree of a file, which is empty if it is not Python."""
    try:
        return parse(text)
    except SyntaxError:
        return ast.Module([], [])


def is_python(text: str) -> bool:
    try:
        parse(text)
    except SyntaxError:
        return False
    return True


def nodes_of(tree: ast.AST) -> list[ast.AST]:
    """A tree and all nodes in it but operators and contexts, as from `ast.walk`, in a third of its
    time."""
    found = [tree]
    for node in found:
        found += children_of(node)
    return found


def last_name(node: ast.AST) -> str:
    """`config` of `self.config`; '' for what has no name."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def targets_of(node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def children_of(node: ast.AST) -> list[ast.AST]:
    found: list[ast.AST] = []
    for name in _FIELDS[node.__class__]:
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += [part for part in value if isinstance(part, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def statements_of(tree: ast.Module) -> list[ast.AST]:
    """A tree and the statements in it, in the order of `nodes_of`, with the parts of `try` and
    `match`."""
    found: list[ast.AST] = [tree]
    for node in found:
        for name in _BLOCKS:
            found += getattr(node, name, ())
    return found


def fields_in(node: ast.ClassDef) -> list[tuple[str, ast.AnnAssign]]:
    """The fields of a class, such as a dataclass, with the statements that name them."""
    rows = (row for row in node.body if isinstance(row, ast.AnnAssign))
    return [(row.target.id, row) for row in rows if isinstance(row.target, ast.Name)]


_BLOCKS = ("body", "handlers", "cases", "orelse", "finalbody")
_PLAIN = ("ctx", "op", "ops", "id", "attr", "kind")  # fields without nodes that say something
_FIELDS = {
    kind: tuple(name for name in kind._fields if name not in _PLAIN)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}


def _as_older(text: str) -> str | None:
    """The text in syntax that Python 3.11 can read. None if black can't read it either."""
    from black.parsing import InvalidInput, lib2to3_parse
    from black.report import NothingChanged
    from blib2to3.pytree import type_repr  # type: ignore[import-untyped]

    try:
        root: Any = lib2to3_parse(text)
    except (InvalidInput, NothingChanged, RecursionError):
        return None
    names: list[str] = []
    for node in list(root.post_order()):  # inner strings before those around them
        kind = type_repr(node.type)
        if kind == "typeparams":
            names += re.findall(r"(?:^\[|,)[\s*]*(\w+)", str(node))
            _replace(node, "\\\n" * str(node).count("\n"))  # newlines stay, as continued lines
        elif kind == "type_stmt":
            word, name = node.children[:2]
            name.prefix, word.prefix, word.value = word.prefix, "", ""
        elif kind == "except_clause" and type_repr(node.children[1].type) == "testlist":
            leaves = list(node.children[1].leaves())
            leaves[0].value = f"({leaves[0].value}"
            leaves[-1].value = f"{leaves[-1].value})"
        elif kind in _STRINGS:
            _as_tuple(node, type_repr)
    return str(root) + "".join(f"{name} = None\n" for name in dict.fromkeys(names))


def _replace(node: Any, text: str) -> Any:
    """Write a text in place of a node: in its first leaf."""
    first, *others = node.leaves()
    for leaf in others:
        leaf.prefix = leaf.value = ""
    first.prefix, first.value = "", text
    return first


def _as_tuple(string: Any, type_repr: Any) -> None:
    """Write an f-string as a tuple: its text, so that others are not the same, and what it uses."""
    prefix, rows = string.prefix, str(string).count("\n")
    text = repr(str(string).strip())
    used = "".join(f"({part.strip()}), " for part in _used(string, type_repr))
    first = _replace(string, f"({text}, {used}" + "\n" * (rows - used.count("\n")) + ")")
    first.prefix = prefix
    # strings side by side are one string
    if _is_string(string.prev_sibling, type_repr):
        first.value = f"+ {first.value}"
    after = string.next_sibling
    if _is_string(after, type_repr) and type_repr(after.type) not in _STRINGS:
        first.value = f"{first.value} +"


def _is_string(node: Any, type_repr: Any) -> bool:
    if node is None:
        return False
    return type_repr(node.type) in _STRINGS or getattr(node, "value", "")[-1:] in ("'", '"')


def _used(node: Any, type_repr: Any) -> Iterator[str]:
    """The expressions in an f-string, also those of its formats."""
    inner = node.children
    if str(type_repr(node.type)).endswith("string_replacement_field"):
        yield str(inner[1])
        inner = inner[2:]
    for child in inner:
        if child.children:
            yield from _used(child, type_repr)
