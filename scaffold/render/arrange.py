"""Where definitions of the library stand in a module: as if somebody had written them there.

A constant stands above the first function or class, a definition above the first that uses it. What
only other modules use stays in the slot that the library states.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from scaffold.errors import TemplateError
from scaffold.render.places import Line, find_names, parse

_DEFINITIONS = (ast.FunctionDef, ast.ClassDef)


@dataclass(eq=False)
class _Chunk:
    """A statement of a module, with the comments above it."""

    node: ast.stmt
    lines: list[Line]
    above: "_Chunk | None"  # the one that stood above it
    gap: int  # blank lines between them

    @cached_property
    def uses(self) -> set[str]:
        return find_names(self.lines)

    @cached_property
    def binds(self) -> set[str]:
        if isinstance(self.node, _DEFINITIONS):
            return {self.node.name}
        names = (one for one in ast.walk(self.node) if isinstance(one, ast.Name))
        return {one.id for one in names if isinstance(one.ctx, ast.Store)}


def arrange(lines: list[Line], library: Path) -> list[Line]:
    """The lines of a module, without its imports, with those of the library where they are used."""
    if not any(line.path.parent == library for line in lines):
        return lines
    try:
        chunks = list(_split(lines))
    except TemplateError:  # Jinja that is no Python
        return lines
    moving = [chunk for chunk in chunks if chunk.lines[0].path.parent == library]
    if any(line.path.parent != library for chunk in moving for line in chunk.lines):
        return lines  # a comment of the module stands above
    staying = [chunk for chunk in chunks if chunk not in moving]
    placed = _place(moving, staying)
    order = [chunk for chunk in chunks if chunk not in placed]
    for chunk in placed:  # each stands above one that is there already
        order.insert(_find(chunk, order), chunk)
    last = lines[lines.index(chunks[-1].lines[-1]) + 1 :]
    return [*_join(order), *last]


def _place(moving: Sequence[_Chunk], staying: Sequence[_Chunk]) -> list[_Chunk]:
    """Those that the module uses, each behind what uses it."""
    used = set[str]().union(*(chunk.uses for chunk in staying))
    placed: list[_Chunk] = []
    left = list(reversed(moving))
    while ready := [chunk for chunk in left if chunk.binds & used]:
        placed += ready
        left = [chunk for chunk in left if chunk not in ready]
        used = used.union(*(chunk.uses for chunk in ready))
    return placed


def _find(chunk: _Chunk, order: Sequence[_Chunk]) -> int:
    """The place for a definition in a module that is in order."""
    users = [place for place, other in enumerate(order) if other.uses & chunk.binds]
    place = users[0] if users else len(order)
    if isinstance(chunk.node, _DEFINITIONS):
        return place
    known = set[str]().union(*(other.binds for other in order))
    if chunk.uses & known - chunk.binds:
        return place
    first = (n for n, other in enumerate(order) if isinstance(other.node, _DEFINITIONS))
    return min(place, next(first, place))


def _split(lines: list[Line]) -> Iterator[_Chunk]:
    above, end = None, 0
    for node in parse(lines).body:
        start = end
        while not lines[start].text.strip():
            start += 1
        above = _Chunk(node, lines[start : node.end_lineno], above, start - end)
        end = node.end_lineno or 0
        yield above


def _join(chunks: Sequence[_Chunk]) -> Iterator[Line]:
    """The lines of a module, with two blank lines around a definition that has come."""
    before: _Chunk | None = None
    for chunk in chunks:
        apart = isinstance(chunk.node, _DEFINITIONS) or (
            before is not None and isinstance(before.node, _DEFINITIONS)
        )
        gap = chunk.gap if chunk.above is before else 2 if apart else 0
        origin = chunk.lines[0]
        yield from [Line("", origin.path, origin.number)] * gap
        yield from chunk.lines
        before = chunk
