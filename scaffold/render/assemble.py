"""Puts the templates of a project together: the lines of each file, with all places filled."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scaffold.answers.catalog import Catalog, Component, Value
from scaffold.answers.resolve import task_values
from scaffold.render.arrange import arrange
from scaffold.render.conditions import Situation
from scaffold.render.fields import config_fields
from scaffold.render.imports import merge_imports, split_imports, used_imports
from scaffold.render.library import Definition, Library
from scaffold.render.places import Directive, Fragment, Line, Part, compose, find_names, is_empty
from scaffold.render.templates import Source, choose_whole, find_sources


def assemble(
    catalog: Catalog, answers: Mapping[str, Value], components: list[Component]
) -> dict[str, list[Line]]:
    """The lines of each file, before the values of answers are filled in."""
    library = Library(catalog.root / "lib")
    situation = Situation(catalog, answers)
    found = find_sources(situation, components)
    wholes = {name: whole for name, rows in found.items() if (whole := choose_whole(rows))}
    names = [name for name in (*wholes, *library.targets) if name.endswith(".py")]
    modules = frozenset(Path(name).stem for name in names)
    context = _Context(situation, task_values(catalog, answers), modules, library)
    fields = config_fields(components, catalog, answers)
    files: dict[str, list[Line]] = {}
    python: dict[str, _Module] = {}
    for name, whole in wholes.items():
        lines = whole.template.whole or ()
        if not name.endswith(".py"):
            files[name] = list(lines)
        elif not is_empty(lines, any(source.parts for source in found[name])):
            more = (fields[name],) if name in fields else ()
            python[name] = _Module(name, context, lines, tuple(found[name]), more)
    return files | _with_library(python, context)


@dataclass(frozen=True)
class _Context:
    """What all modules of a project share."""

    situation: Situation
    values: Mapping[str, Any]  # of the task
    modules: frozenset[str]  # the names of the project's own
    library: Library


def _with_library(python: Mapping[str, "_Module"], context: _Context) -> dict[str, list[Line]]:
    """The lines of all modules, with what they import from the library."""
    files, wanted = {}, list[Definition]()
    for name, module in python.items():
        files[name], found = module.fill()
        wanted += found
    known = set[Definition]()
    while not known.issuperset(wanted):  # what stands in its places may import more of it
        known.update(wanted)
        for name, fragment in context.library.collect(known).items():
            module = python.get(name) or _Module(name, context, context.library.begin(name), (), ())
            files[name], found = replace(module, more=(*module.more, fragment)).fill()
            wanted += found
    return files


@dataclass(frozen=True)
class _Module:
    """What is put into a Python file."""

    name: str
    context: _Context
    base: tuple[Line, ...]
    sources: tuple[Source, ...]
    more: tuple[Fragment, ...]

    def fill(self) -> tuple[list[Line], list[Definition]]:
        """The file with all places filled, and what it imports from the library."""
        fragments = [Fragment(source.template.imports, source.parts) for source in self.sources]
        start, end = split_imports(self.base)
        optional = self.context.library.places(self.name)
        lines = compose(self.base[end:], [*fragments, *self.more], self._holds, optional)
        lines = arrange(lines, self.context.library.folder)
        names = find_names(lines) | self._names_in_values(lines)
        blocks: list[Sequence[Line]] = [self.base[start:end]]
        blocks += [self._imports(source, names) for source in self.sources]
        blocks += [fragment.imports for fragment in self.more]
        blocks, wanted = self.context.library.split(blocks, self.name)
        imports = merge_imports(blocks, self.context.modules)
        if imports and start == end:  # below a docstring: blank lines as black has them
            blank = Line("", self.base[0].path, end)
            imports = [blank, *imports, blank]
        return [*self.base[:start], *imports, *lines], wanted

    def _holds(self, region: Directive) -> bool:
        """Whether the condition of a region does."""
        path = region.line.path
        owner = next((s.component for s in self.sources if s.template.path == path), None)
        return owner is None or self.context.situation.holds(owner, region.condition)

    def _imports(self, source: Source, names: set[str]) -> tuple[Line, ...]:
        """The imports of a template that its places use, or the file if none of them does.

        `names` are those of the file: what stands in a place may have been replaced.
        """
        if not source.template.imports:
            return ()
        here, anywhere = set(source.template.names), set[str]()
        for part in source.template.parts:
            anywhere |= part.names
        for part in source.parts:
            here |= part.names | self._names_in_values(part.lines)
        return used_imports(
            source.template.imports, names & (here | (names - anywhere)), _conditions(source)
        )

    def _names_in_values(self, lines: Iterable[Line]) -> set[str]:
        """The names in code that the task's manifest brings."""
        asked = {name for line in lines for name in re.findall(r"{{ *task\.(\w+)", line.text)}
        texts = (self.context.values.get(name) for name in asked)
        found = (re.findall(r"[^\W\d]\w*", text) for text in texts if isinstance(text, str))
        return {name for names in found for name in names}


def _conditions(source: Source) -> dict[str, tuple[str, ...]]:
    """The condition of each name that one place of a template uses, and no line outside of it."""
    places: dict[str, list[Part]] = {}
    for part in source.parts:
        for name in part.names - source.template.names:
            places.setdefault(name, []).append(part)
    return {name: one.lines[0].condition for name, (one, *more) in places.items() if not more}
