"""What a loop of the owner's keeps from epoch to epoch, and the checkpoints of an update do not."""

import ast
from collections.abc import Iterator

from scaffold.merge.checks.early_uses import kept_in_loop
from scaffold.merge.checks.update import Update
from scaffold.merge.semantics.infer import Project
from scaffold.merge.semantics.names import is_test
from scaffold.merge.semantics.scopes import FUNCTIONS, Scope
from scaffold.merge.source.parse import children_of, last_name, nodes_of
from scaffold.merge.source.training import CHECKPOINTS


def find_unsaved_state(update: Update) -> Iterator[tuple[str, str, int]]:
    """Names of the owner's that new checkpoints lack: path, what is wrong, and line."""
    new = _saving(update.after)
    if not new or _saving(update.before):
        return
    known = {name for scope in _saving(update.fresh) for name in scope.names}
    for scope in new:
        for name, line in _kept(scope):
            if name not in known:
                why = f"{name} is kept in the loop, but checkpoints lack it"
                yield scope.path, f"{why}: a resumed run starts it anew", line


def _saving(project: Project) -> list[Scope]:
    """The functions that make checkpoints."""
    return [
        scope
        for path, facts in project.files.items()
        for call, scope in (() if is_test(path) else facts.calls)
        if last_name(call.func) == CHECKPOINTS and isinstance(scope.node, FUNCTIONS)
    ]


def _kept(scope: Scope) -> Iterator[tuple[str, int]]:
    """The names that the loops of a function keep, and the lines that set them first, above."""
    above: dict[str, int] = {}
    body = children_of(scope.node)
    for place, node in enumerate(body):
        if isinstance(node, ast.For | ast.While):
            below = {row.id for part in body[place + 1 :] for row in _names(part, ast.Load)}
            yield from ((name, above[name]) for name in kept_in_loop(node, below) if name in above)
        for row in _names(node, ast.Store):
            above.setdefault(row.id, row.lineno)


def _names(node: ast.AST, context: type[ast.expr_context]) -> list[ast.Name]:
    names = [row for row in nodes_of(node) if isinstance(row, ast.Name)]
    return [row for row in names if isinstance(row.ctx, context)]
