"""The library of templates: `templates/lib/`, ordinary Python of which a project gets what it uses.

A template imports from it, as in `from lib.images import to_rgb`. The definition, and what it needs
in turn, goes into the module of the project that its file in the library states in the first line:

    #: into data.py at datasets     a file of the project, and a slot in it

In other modules, the import becomes one of that module. A project without that module gets it, with
the docstring of the library's file.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from scaffold.errors import TemplateError
from scaffold.render.imports import bound_names, used_imports
from scaffold.render.places import (
    Directive,
    Fragment,
    Line,
    Part,
    find_names,
    parse,
    places_in,
    read_lines,
)

PREFIX = "from lib."


@dataclass(frozen=True)
class Definition:
    """A function, a class or a constant of the library."""

    shelf: "Shelf"
    name: str
    lines: tuple[Line, ...]

    @cached_property
    def names(self) -> set[str]:
        """What its code names."""
        return find_names(self.lines)


@dataclass(frozen=True, eq=False)
class Shelf:
    """A file of the library."""

    path: Path
    target: str  # the file of the project
    slot: str
    lines: tuple[Line, ...]

    @property
    def module(self) -> str:
        """The module of the project that its definitions go into."""
        return self.target.removesuffix(".py").replace("/", ".")

    @cached_property
    def places(self) -> frozenset[tuple[str, str]]:
        """The slots and regions in its definitions."""
        return places_in(self.lines)

    @cached_property
    def _body(self) -> list[ast.stmt]:
        return parse(self.lines).body

    @property
    def docstring(self) -> tuple[Line, ...]:
        first = self._body[0]
        return self._lines_of(first) if isinstance(first, ast.Expr) else ()

    @cached_property
    def imports(self) -> tuple[Line, ...]:
        found = (node for node in self._body if isinstance(node, ast.Import | ast.ImportFrom))
        return tuple(line for node in found for line in self._lines_of(node))

    @cached_property
    def names(self) -> dict[str, tuple[Line, ...]]:
        """The lines that define each name."""
        return {name: self._lines_of(node) for node in self._body for name in _bound(node)}

    def _lines_of(self, node: ast.stmt) -> tuple[Line, ...]:
        """A statement, with the comments above it and the ends of regions below it."""
        start = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))]) - 1
        end = node.end_lineno or 0
        if any(_bound(node)):
            while start and self.lines[start - 1].text.startswith("# "):
                start -= 1
            while end < len(self.lines) and self.lines[end].text.lstrip().startswith("#: end "):
                end += 1
        return self.lines[start:end]

    def define(self, name: str, place: Line) -> Definition:
        """Raises TemplateError, at the line that names it, if there is no such definition."""
        if name not in self.names:
            raise place.error(f"lib/{self.path.name} has no {name!r}")
        return Definition(self, name, self.names[name])

    def needs(self, definition: Definition) -> Iterator[Definition]:
        """What a definition needs from this file and from others of the library."""
        for name in self.names:
            if name in definition.names and name != definition.name:
                yield self.define(name, definition.lines[0])
        for line in used_imports(self.imports, definition.names):
            yield from find_definitions(self.path.parent, line)


@lru_cache(maxsize=64)
def read_shelf(path: Path) -> Shelf:
    """Raises TemplateError for a file that does not say where it goes."""
    lines = read_lines(path)
    words = lines[0].text.split() if lines else []
    if words[:2] != ["#:", "into"] or len(words) != 5 or words[3] != "at":
        raise TemplateError(path, 1, "the first line must be '#: into FILE at SLOT'")
    return Shelf(path, words[2], words[4], tuple(lines))


def _bound(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            yield from (one.id for one in ast.walk(target) if isinstance(one, ast.Name))


@dataclass(frozen=True)
class Library:
    """The folder of the library."""

    folder: Path

    @cached_property
    def shelves(self) -> list[Shelf]:
        return [read_shelf(path) for path in sorted(self.folder.glob("*.py"))]

    @property
    def targets(self) -> list[str]:
        """The files of projects that it writes to."""
        return [shelf.target for shelf in self.shelves]

    def places(self, target: str) -> frozenset[tuple[str, str]]:
        """The slots and regions in its definitions for a file of the project."""
        return frozenset(
            place for one in self.shelves if one.target == target for place in one.places
        )

    def begin(self, target: str) -> tuple[Line, ...]:
        """A file of the project that no template writes: the docstring, and the slots."""
        shelves = [shelf for shelf in self.shelves if shelf.target == target]
        first = shelves[0]
        slots = dict.fromkeys(shelf.slot for shelf in shelves)
        rows = [Line(row, first.path, 1) for slot in slots for row in ("", "", f"#: slot {slot}")]
        return (*first.docstring, *rows)

    def split(
        self, blocks: Iterable[Sequence[Line]], target: str
    ) -> tuple[list[Sequence[Line]], list[Definition]]:
        """The imports of a file without those from the library, and what these import."""
        kept: list[Sequence[Line]] = []
        wanted: list[Definition] = []
        for block in blocks:
            if not any(line.text.startswith(PREFIX) for line in block):
                kept.append(block)
                continue
            lines = used_imports(tuple(block), bound_names(tuple(block)))
            kept.append([line for line in lines if not line.text.startswith(PREFIX)])
            for line in lines:
                found = list(find_definitions(self.folder, line))
                kept.append([row for one in found for row in import_of(one, target, line)])
                wanted += found
        return kept, wanted

    def collect(self, wanted: Iterable[Definition]) -> dict[str, Fragment]:
        """What goes into which file of the project: definitions, and what they need in turn."""
        found: dict[Shelf, set[str]] = {}
        left = list(wanted)
        while left:
            definition = left.pop()
            names = found.setdefault(definition.shelf, set())
            if definition.name not in names:
                names.add(definition.name)
                left += definition.shelf.needs(definition)
        parts: dict[str, Fragment] = {}
        for shelf in sorted(found, key=lambda shelf: shelf.path):
            fragment = _fragment(shelf, found[shelf])
            other = parts.get(shelf.target, Fragment((), ()))
            parts[shelf.target] = Fragment(
                (*other.imports, *fragment.imports), (*other.parts, *fragment.parts)
            )
        return parts


def find_definitions(folder: Path, line: Line) -> Iterator[Definition]:
    """What an import from the library names: all of it stands in one line."""
    if line.text.startswith(PREFIX):
        for node in ast.parse(line.text).body:
            if isinstance(node, ast.ImportFrom) and node.module:
                path = folder / f"{node.module.removeprefix('lib.')}.py"
                if not path.is_file():
                    raise line.error(f"there is no lib/{path.name}")
                shelf = read_shelf(path)
                for alias in node.names:
                    yield shelf.define(alias.name, line)


def _fragment(shelf: Shelf, names: set[str]) -> Fragment:
    """These definitions, in the order of the library."""
    parts, used = [], set[str]()
    seen: set[tuple[Line, ...]] = set()
    place = Directive(
        Line(f"#: into {shelf.target} at {shelf.slot}", shelf.path, 1), 0, "slot", shelf.slot
    )
    for name, lines in shelf.names.items():
        if name in names and lines not in seen:
            seen.add(lines)  # a statement may bind several names
            parts.append(Part(place, lines))
            used |= find_names(lines)
    imports = []
    for line in used_imports(shelf.imports, used):
        if not line.text.startswith(PREFIX):
            imports.append(line)
            continue
        for definition in find_definitions(shelf.path.parent, line):
            imports += import_of(definition, shelf.target, line)
    return Fragment(tuple(imports), tuple(parts))


def import_of(definition: Definition, target: str, place: Line) -> Iterator[Line]:
    """How a file of the project imports a definition: not at all, where it stands itself."""
    if definition.shelf.target != target:
        text = f"from {definition.shelf.module} import {definition.name}"
        yield Line(text, place.path, place.number, place.condition)
