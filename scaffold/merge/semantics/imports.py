"""Repairs the imports of a merged file: those that its code needs, each once."""

import ast
import re
import sys
from collections import Counter
from collections.abc import Collection, Sequence

from scaffold.merge.semantics.names import (
    REPEATED_IMPORT,
    UNDEFINED,
    UNUSED_IMPORT,
    Fault,
    find_faults,
)
from scaffold.merge.source.imports import Node
from scaffold.merge.source.parse import tree_of


def mended(text: str, before: str, sources: Collection[str]) -> str:
    """The text with the imports that its code needs now, but for faults that it had before.

    `sources` are the versions that may contain the missing imports. One that is unused there, too,
    is there for others: a module may import names so that they can be imported from it.
    """
    kinds = (UNDEFINED, UNUSED_IMPORT, REPEATED_IMPORT)
    if not any(fault.kind in kinds for fault in find_faults(text)):
        return text  # without a look at the sides, which takes time
    known = find_faults(before)
    for source in sources:
        known = known | Counter(f for f in find_faults(source) if f.kind == UNUSED_IMPORT)
    for _ in range(8):
        last = text
        for fault in [f for f in find_faults(text) if f.kind in kinds and f not in known]:
            if fault.kind != UNDEFINED:
                text = _remove_import(text, fault.name, last=fault.kind == REPEATED_IMPORT)
            elif statement := _find_import(fault.name, sources):
                text = _add_import(text, *statement)
        if text == last:
            break
    return text


def import_elsewhere(text: str, name: str, module: str) -> str:
    """The text with a name that it imports from another module."""
    return _add_import(_remove_import(text, name, last=False), module, name)


def _imports(text: str) -> list[Node]:
    return [node for node in tree_of(text).body if isinstance(node, Node)]


def comes_with_all(fault: Fault, own: str, new: str) -> bool:
    """Whether a name comes from a module of which the owner imports all names."""
    statement = _find_import(fault.name, (new,)) if fault.kind.startswith("ImportStar") else None
    if statement is None or statement[0] is None:
        return False
    return bool(re.search(rf"(?m)^from {re.escape(statement[0])} import \*", own))


def _find_import(name: str, sources: Collection[str]) -> tuple[str | None, str] | None:
    """The module and what is imported from it, as in one of the sources."""
    for source in sources:
        for node in _imports(source):
            for alias in node.names:
                if (alias.asname or alias.name).split(".")[0] == name:
                    return _module(node), ast.unparse(alias)
    return None


def _module(node: Node) -> str | None:
    """What names are imported from, with the dots in front of it. None if it is a module itself."""
    return "." * node.level + (node.module or "") if isinstance(node, ast.ImportFrom) else None


def _add_import(text: str, module: str | None, words: str) -> str:
    rows = text.split("\n")
    nodes = _imports(text)
    for node in nodes:
        if module is not None and _module(node) == module:
            names = [ast.unparse(alias) for alias in node.names]
            return replace_rows(rows, node, _statement(module, sorted([*names, words], key=_order)))
    line = _statement(module, [words])
    top = (module or words).split(".")[0]
    near = [node for node in nodes if _top(node) == top]
    if not near and top in sys.stdlib_module_names:
        near = [node for node in nodes if _top(node) in sys.stdlib_module_names]
    place = near[-1].end_lineno or 0 if near else _place_in_last(nodes, rows, module or words)
    return "\n".join([*rows[:place], line, *rows[place:]])


def _place_in_last(nodes: Sequence[Node], rows: Sequence[str], name: str) -> int:
    """Where an import stands in the last section, in the order of the alphabet."""
    place = nodes[-1].end_lineno or 0 if nodes else 0
    for node in reversed(nodes):
        if (node.end_lineno or 0) < place and not all(rows[node.end_lineno or 0 : place]):
            break
        if (_module(node) or node.names[0].name).lower() > name.lower():
            place = node.lineno - 1
    return place


def _remove_import(text: str, name: str, last: bool) -> str:
    """The text without the first or last import of a name, as pyflakes has it: `x.y`, `x as y`."""
    rows = text.split("\n")
    nodes = _imports(text)
    for node in reversed(nodes) if last else nodes:
        module = _module(node)
        path = f"{module}." if module and not module.endswith(".") else module or ""
        for alias in node.names:
            own = alias.asname or alias.name
            if name in (path + ast.unparse(alias), own, ast.unparse(alias)):
                names = [ast.unparse(other) for other in node.names if other is not alias]
                return replace_rows(rows, node, _statement(module, names) if names else None)
    return text


def _top(node: Node) -> str:
    module = _module(node)
    return (node.names[0].name if module is None else module).split(".")[0]


def _order(name: str) -> tuple[int, str]:
    """Constants, classes, then the rest, as isort sorts them."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return kind, name.lower()


def _statement(module: str | None, names: list[str]) -> str:
    listed = ", ".join(names)
    if module is None:
        return f"import {listed}"
    text = f"from {module} import {listed}"
    if len(text) > 100:
        text = f"from {module} import (\n" + "".join(f"    {name},\n" for name in names) + ")"
    return text


def replace_rows(
    rows: list[str], node: ast.stmt, statement: str | None, comment: bool = True
) -> str:
    """The text with another statement, or none, in the rows of one, whose comment it gets."""
    lines = [] if statement is None else [statement]
    found = re.search(r"\s+#.*$", rows[(node.end_lineno or 1) - 1]) if comment else None
    if lines and found and "\n" not in lines[0]:
        lines[0] += found[0]
    above, below = rows[: node.lineno - 1], rows[node.end_lineno or 0 :]
    if statement is None and below and not below[0].strip():
        while above and not above[-1].strip():
            above.pop()  # the blank lines below separate what remains
    return "\n".join([*above, *lines, *below])
