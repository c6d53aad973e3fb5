"""Import statements of several origins, merged and sorted as `ruff check --select I` wants them."""

import ast
import re
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

from scaffold.errors import TemplateError
from scaffold.render.places import Line, parse

LINE_LENGTH = 100  # of generated Python


def split_imports(lines: Sequence[Line]) -> tuple[int, int]:
    """The lines of the imports at the top: the first index, and the one after the last.

    Raises TemplateError where something else stands between them.
    """
    tree = _parse_top(lines)
    found = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    if not found:
        start = tree.body[0].end_lineno or 0 if tree.body and _is_docstring(tree.body[0]) else 0
        return start, start
    first, last = tree.body.index(found[0]), tree.body.index(found[-1])
    for node in tree.body[first : last + 1]:
        if node not in found:
            raise lines[node.lineno - 1].error("only imports may stand between imports")
    return found[0].lineno - 1, found[-1].end_lineno or 0


def _parse_top(lines: Sequence[Line]) -> ast.Module:
    """The statements as far as the last import, which is much quicker than all of them."""
    starts = [n for n, line in enumerate(lines) if line.text.startswith(("import ", "from "))]
    end = starts[-1] + 1 if starts else len(lines)
    while end < len(lines) and lines[end - 1].text.endswith(("(", ",")):
        end += 1
    try:
        return parse(lines[:end])
    except TemplateError:  # such a line in a docstring
        return parse(lines)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def used_imports(
    imports: tuple[Line, ...],
    names: Collection[str],
    conditions: Mapping[str, tuple[str, ...]] | None = None,
) -> tuple[Line, ...]:
    """The imports that bind some of these names, with the conditions of some of them."""
    return tuple(
        origin._replace(
            text=f"{head}{text}",
            condition=(conditions or {}).get(name, origin.condition),
        )
        for origin, head, aliases in _bindings(imports)
        for name, text in aliases
        if name in names
    )


def bound_names(imports: tuple[Line, ...]) -> set[str]:
    """The names that imports bind."""
    return {name for _, _, aliases in _bindings(imports) for name, _ in aliases}


@lru_cache(maxsize=2048)
def _bindings(imports: tuple[Line, ...]) -> list[tuple[Line, str, list[tuple[str, str]]]]:
    """Of each import: its line, what it begins with, and each name that it binds, with its text."""
    found = []
    for node in ast.parse("\n".join(line.text for line in imports)).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            head = "import " if isinstance(node, ast.Import) else f"from {node.module} import "
            aliases = [
                (alias.asname or alias.name.partition(".")[0], _with_alias(alias))
                for alias in node.names
            ]
            found.append((imports[node.lineno - 1], head, aliases))
    return found


def merge_imports(blocks: Iterable[Sequence[Line]], local: Collection[str]) -> list[Line]:
    """One sorted block. `local` names the project's own modules, which come last."""
    modules: dict[str, Line] = {}  # `import x` statements
    # `from x import y`, where each `y as z` has a statement of its own
    names: dict[tuple[str, str], dict[str, Line]] = {}
    for block in blocks:
        for node in ast.parse("\n".join(line.text for line in block)).body:
            origin = block[node.lineno - 1]
            if isinstance(node, ast.Import):
                for alias in node.names:
                    modules.setdefault(_with_alias(alias), origin)
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    own = _with_alias(alias) if alias.asname else ""
                    target = names.setdefault((node.module or "", own), {})
                    target.setdefault(_with_alias(alias), origin)
    statements = [
        (_section(text, local), 0, (_natural(text), _by_type("")), [_row(f"import {text}", origin)])
        for text, origin in modules.items()
    ]
    for (module, _), members in names.items():
        ordered = sorted(members, key=_by_type)
        origin = next(iter(members.values()))
        head = f"from {module} import "
        rows = [_row(head + ", ".join(ordered), origin)]
        if len(rows[0].text) > LINE_LENGTH:  # each name comes from where it is imported
            below = [_row(f"    {name},", members[name]) for name in ordered]
            rows = [_row(f"{head}(", origin), *below, _row(")", origin)]
        place = (_natural(module), _by_type(ordered[0]))
        statements.append((_section(module, local), 1, place, rows))
    out: list[Line] = []
    section = None
    for number, _, _, rows in sorted(statements, key=lambda row: row[:3]):
        if section not in (None, number):
            out.append(_row("", rows[0]))
        section = number
        out += rows
    return out


def _row(text: str, origin: Line) -> Line:
    return origin._replace(text=text)


def _with_alias(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def _section(module: str, local: Collection[str]) -> int:
    top = re.split(r"[. ]", module)[0]
    if top in local:
        return 2
    return 0 if top in sys.stdlib_module_names else 1


def _natural(text: str) -> tuple[str, str]:
    """Without regard to case, and with numbers by their value."""
    return re.sub(r"\d+", lambda digits: digits[0].zfill(9), text.lower()), text


def _by_type(name: str) -> tuple[int, tuple[str, str]]:
    """Constants, then classes, then the rest."""
    if name.isupper() and len(name) > 1:
        return 0, _natural(name)
    return (1 if name[:1].isupper() else 2), _natural(name)
