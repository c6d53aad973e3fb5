"""A project before and after an update, and as it would be without edits."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from scaffold.merge.semantics.infer import Project
from scaffold.merge.semantics.scopes import Facts, Scope, read_facts


@dataclass
class Update:
    before: Project
    after: Project
    rendered: Mapping[str, str]  # the code without edits, by path
    scripts: Mapping[str, str]  # of the shell, after the update

    @cached_property
    def fresh(self) -> Project:
        """The project without edits, which takes time to read."""
        return read_project(self.rendered)


def read_project(files: Mapping[str, str]) -> Project:
    """The project of these files, of which one that is not Python may define any name."""
    return _read(tuple(files.items()))


@lru_cache(maxsize=3)
def _read(files: tuple[tuple[str, str], ...]) -> Project:
    """A project before, after, or as rendered: with conflicts, each is looked at twice."""
    nothing = ast.Module([], [])
    found = {}
    for path, text in files:
        unreadable = Facts(path, nothing, Scope(path, nothing, names={"__getattr__": [None]}))
        found[path] = read_facts(path, text) or unreadable
    return Project(found)
