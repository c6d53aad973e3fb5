"""Features that an update leaves incomplete: built but never used, or set but never read.

A fresh render says what belongs together.
"""

import ast
import re
from collections.abc import Iterator

from scaffold.merge.checks.update import Update
from scaffold.merge.semantics.infer import Project
from scaffold.merge.semantics.names import is_test
from scaffold.merge.semantics.scopes import FUNCTIONS
from scaffold.merge.semantics.types import Callable, Class, Object
from scaffold.merge.source.parse import fields_in, nodes_of
from scaffold.merge.source.training import CONFIG


def find_unused(update: Update) -> Iterator[tuple[str, str, int]]:
    """Halves that an update leaves: path, what is wrong, and line.

    The project without edits is read only if a word of its texts may tell something.
    """
    now = _Uses(update.after)
    code = "\n".join(text for path, text in update.rendered.items() if not is_test(path))
    words = set(re.findall(r"\.(\w+)", code))
    suspects = [row for row in now.idle() if row[1] in words]
    unread = [name for name in now.fields if name in words and not now.reads(name)]
    if not suspects and not unread:
        return
    old = _Uses(update.before)
    suspects = [row for row in suspects if not old.lacks(*row)]
    unread = [name for name in unread if name not in old.fields or old.reads(name)]
    if not suspects and not unread:
        return
    meant = _Uses(update.fresh)
    for name, method in suspects:
        if method in meant.called.get(name, ()):
            path, line = now.built[name]
            yield path, f"{name} is built, but its {method}() is never called", line
    for name in unread:
        if name in meant.read:
            path, line = now.fields[name]
            yield path, f"the setting {name} has no effect: nothing reads it", line


class _Uses:
    """What the code of a project, without its tests, builds, calls and reads."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.built: dict[str, tuple[str, int]] = {}
        self.kinds: dict[str, Class] = {}
        self.called: dict[str, set[str]] = {}
        self.maybe: set[str] = set()  # called on something unknown
        self.fields: dict[str, tuple[str, int]] = {}
        self.read: set[str] = set()
        self.code: list[ast.Module] = []
        for path, facts in project.files.items():
            if is_test(path):
                continue
            for call, scope in facts.calls:
                kind = project.kind(call.func, scope)
                if isinstance(kind, Class):
                    self.built.setdefault(kind.name, (path, call.lineno))
                    self.kinds.setdefault(kind.name, kind)
            for node, scope in facts.attributes:
                if not isinstance(node.ctx, ast.Load):
                    continue
                self.read.add(node.attr)
                owner = project.kind(node.value, scope)
                if isinstance(owner, Object):
                    if isinstance(project.kind(node, scope), Callable):
                        self.called.setdefault(owner.of.name, set()).add(node.attr)
                elif owner is None:
                    self.maybe.add(node.attr)
            self.code.append(facts.tree)
        for (path, name), scope in project.definitions.items():
            if name == CONFIG and isinstance(scope.node, ast.ClassDef):
                self.fields |= {field: (path, row.lineno) for field, row in fields_in(scope.node)}

    def idle(self) -> Iterator[tuple[str, str]]:
        """The methods of classes that are built which nothing calls."""
        for name, kind in sorted(self.kinds.items()):
            for method, found in sorted(self.project.members(kind).bindings.items()):
                is_method = any(isinstance(binding, FUNCTIONS) for binding, _ in found)
                if is_method and self.lacks(name, method):
                    yield name, method

    def reads(self, name: str) -> bool:
        """Whether a setting may be read, as an attribute or by its name in a string."""
        return name in self.read or any(
            isinstance(node, ast.Constant) and node.value == name
            for tree in self.code
            for node in nodes_of(tree)
        )

    def lacks(self, name: str, method: str) -> bool:
        """Whether objects of a class are built, and this method of theirs is never called."""
        if name not in self.built or method in self.maybe:
            return False
        return method not in self.called.get(name, ())
