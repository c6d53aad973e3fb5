"""Three versions of a project: the input of a merge."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

Files = Mapping[str, str]  # texts by name or path


class Generated(Protocol):
    """What was generated last: texts by name, and the paths of files that were moved since."""

    @property
    def files(self) -> Files: ...

    @property
    def moved(self) -> Mapping[str, str]: ...


@dataclass(frozen=True)
class Versions:
    """Three versions of a project, read once.

    The files of base and theirs go by their names in the render, those of the owner by their paths.
    """

    base: Files
    ours: Files
    theirs: Files
    moved: Mapping[str, str]  # paths by names, where they differ

    def place(self, name: str) -> str:
        """The current path of the file that is generated as `name`."""
        return self.moved.get(name, name)

    @cached_property
    def names(self) -> dict[str, str]:
        """The names of all files that are, or were, generated, by their paths."""
        return {self.place(name): name for name in (*self.base, *self.theirs)}

    @cached_property
    def rendered(self) -> dict[str, str]:
        """The new render, by path."""
        return {self.place(name): text for name, text in self.theirs.items()}

    @cached_property
    def own_code(self) -> dict[str, str]:
        """The owner's Python files that are not generated."""
        return {
            path: text
            for path, text in self.ours.items()
            if path.endswith(".py") and path not in self.names
        }
