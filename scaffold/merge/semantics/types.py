"""What an expression of a project can be."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from scaffold.merge.semantics.scopes import Binding, Scope


@dataclass(frozen=True)
class Module:
    path: str


@dataclass(frozen=True)
class Class:
    path: str
    name: str  # with the scopes around it


@dataclass(frozen=True)
class Object:
    """An instance of a class of the project."""

    of: Class


@dataclass(frozen=True)
class Callable:
    """A function, or a method that may be bound already."""

    path: str
    name: str
    bound: bool = False


@dataclass(frozen=True)
class Outside:
    """Something of another package."""

    name: str


@dataclass(frozen=True)
class Nothing:
    """None."""


Kind: TypeAlias = Module | Class | Object | Callable | Outside | Nothing


@dataclass(frozen=True)
class Members:
    """What the objects of a class have."""

    bindings: Mapping[str, list[tuple[Binding, Scope]]]
    fields: tuple[str, ...]  # of a dataclass, in order
    is_dataclass: bool
    is_open: bool  # there may be more


def one_of(kinds: Sequence[Kind | None]) -> Kind | None:
    """The kind that all of these are; None beside it does not count."""
    found = {kind for kind in kinds if kind != Nothing()}
    if not found:
        return Nothing() if kinds else None
    return found.pop() if len(found) == 1 else None
