"""Names that the code of a written project uses, and nothing there defines."""

import ast
from collections.abc import Iterator

from scaffold.eject.plan import TODO, Plan, Todo
from scaffold.eject.write import OWN


def mark_undefined(plan: Plan, files: dict[str, str]) -> None:
    """Put a TODO above each statement with such a name."""
    for path in OWN:
        rows, found = files[path].split("\n"), dict[int, dict[str, None]]()
        for line, name in _undefined(files[path]):
            found.setdefault(line, {})[f"`{name}`"] = None
        for added, line in enumerate(sorted(found)):
            row = rows[line + added - 1]
            gap = row[: len(row) - len(row.lstrip())]
            reason = f"not defined here: {', '.join(found[line])}"
            rows.insert(line + added - 1, f"{gap}{TODO} {reason}")
            plan.todos.append(Todo(f"{path}:{line + added}", row.strip(), reason))
        files[path] = "\n".join(rows)


def _undefined(text: str) -> Iterator[tuple[int, str]]:
    """The line where a statement starts, and a name of it that would be a NameError."""
    from pyflakes.checker import Checker
    from pyflakes.messages import UndefinedName

    tree = ast.parse(text.partition("\nif __name__ ==")[0])  # what is defined on import, too
    nodes = list(ast.walk(tree))
    used = {(node.lineno, node.id) for node in nodes if isinstance(node, ast.Name)}  # no texts
    statements = [node for node in nodes if isinstance(node, ast.stmt)]
    for message in Checker(tree).messages:
        line, name = message.lineno, str(message.message_args[0])
        if isinstance(message, UndefinedName) and (line, name) in used:
            starts = [_start(node) for node in statements if line <= (node.end_lineno or line)]
            yield max(start for start in starts if start <= line), name


def _start(node: ast.stmt) -> int:
    """The first line of a statement, with its decorators."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(part.lineno for part in decorators)])
