"""The template files of a component, and what each puts into which file of a project.

A template puts lines into the file of the project that has its name:

    #: file [CONDITION]        the whole file stands below, as far as `#: end file`, or to the end
    ...
    #: end file
    import ...                 imports for the places below, which come with the code that uses them
    #: slot NAME [CONDITION]   what is put into a place: see `places.py`

A template that is no whole file has places alone, and its first line may be their condition:
`#: when ...`. A file that is no Python is whole in any case.

    #: into FILE [CONDITION]   what stands below goes into another file: `tests.py` has such lines
                               for the files in `tests/`, and at its top the imports of all

Folders below a component only group its templates, except `tests/`, hidden ones and what is in
these, which are folders of the project.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import cast

from scaffold.answers.catalog import Catalog, Component, Task, Value
from scaffold.answers.resolve import active_features
from scaffold.errors import TemplateError
from scaffold.render.conditions import Situation, Words, read_condition
from scaffold.render.imports import bound_names, used_imports
from scaffold.render.places import (
    Directive,
    Line,
    Part,
    find_names,
    read_directive,
    read_lines,
    read_parts,
)


@dataclass(frozen=True)
class Template:
    """One file of a component."""

    path: Path
    whole: tuple[Line, ...] | None  # of a whole file: its lines
    condition: Words  # of all that is in it
    imports: tuple[Line, ...]
    parts: tuple[Part, ...]
    number: int = 1  # the line where it begins

    @cached_property
    def names(self) -> set[str]:
        """What a whole file names."""
        return find_names(self.whole or ())

    @cached_property
    def all_names(self) -> set[str]:
        """What its lines name."""
        return find_names(self.lines)

    @property
    def lines(self) -> Iterator[Line]:
        """Those of the whole file, and those for places."""
        yield from self.whole or ()
        for part in self.parts:
            yield from part.lines


@dataclass(frozen=True)
class Source:
    """A template of a component that applies, and its places that do."""

    component: Component
    template: Template
    parts: tuple[Part, ...]


def active_components(catalog: Catalog, answers: Mapping[str, Value]) -> list[Component]:
    """The components of a project, in the order in which their code is placed."""
    task = catalog.tasks[str(answers["project.task"])]
    shared = [catalog.base, catalog.hardware, *catalog.shared]
    return [*shared, task, *active_features(catalog, answers)]


def read_templates(component: Component) -> Iterator[tuple[str, Template]]:
    """The templates of a component, each with the name of its file in the project."""
    for target, path in _walk(component.folder, component.manifest, ""):
        for other, template in read_template(path):
            yield other or target, template


def _walk(folder: Path, manifest: Path, inside: str) -> Iterator[tuple[str, Path]]:
    """The templates in a folder and those below it, with their targets: its own files first."""
    with os.scandir(folder) as listed:
        entries = sorted(listed, key=lambda entry: entry.name)
    top = folder == manifest.parent
    if not top and any(entry.name in _MANIFESTS for entry in entries):
        return  # another component
    for entry in entries:
        if not entry.is_dir() and not (top and entry.name in (manifest.name, _page(manifest))):
            yield f"{inside}{entry.name}", Path(entry.path)
    folders = [entry for entry in entries if entry.is_dir() and entry.name != "__pycache__"]
    for entry in sorted(folders, key=lambda entry: not _is_kept(entry.name)):
        kept = _is_kept(entry.name) or inside.startswith(".")
        inner = f"{inside}{entry.name}/" if kept else inside
        yield from _walk(Path(entry.path), manifest, inner)


def _is_kept(name: str) -> bool:
    """Whether a folder is one of the project, and does not only group templates."""
    return name == "tests" or name.startswith(".")


_MANIFESTS = ("feature.toml", "task.toml")


def _page(manifest: Path) -> str:
    """The name of a component's documentation, which is no template."""
    return "" if manifest.name == "base.toml" else "README.md"


@lru_cache(maxsize=2048)
def read_template(path: Path) -> tuple[tuple[str, Template], ...]:
    """What a file holds, each with its target, which is empty where it is that of the path.

    Raises TemplateError for lines that belong to no place.
    """
    lines = read_lines(path)
    starts = [n for n, line in enumerate(lines) if line.text.startswith("#: into ")]
    if path.suffix != ".py" or not starts:
        return (("", _read(path, lines)),)
    head = _read(path, lines[: starts[0]])
    read = [("", replace(head, imports=()))] if head.whole or head.parts else []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        directive = cast(Directive, read_directive(lines[start]))
        words = (*head.condition, *directive.condition)
        under = [line.when(words) for line in lines[start + 1 : end]]
        below = _read(path, under)
        words = (*words, *below.condition)
        template = replace(below, condition=words, number=lines[start].number)
        read.append((directive.name, template))
    return tuple(_share_imports(head.imports, read))


def _share_imports(
    head: tuple[Line, ...], read: Sequence[tuple[str, Template]]
) -> Iterator[tuple[str, Template]]:
    """Each template with those of the imports above all that it uses, or that none of them does."""
    names = [find_names(template.lines) for _, template in read]
    unused = bound_names(head).difference(*names)
    for own, (target, template) in zip(names, read, strict=True):
        imports = (*used_imports(head, own | unused), *template.imports)
        yield target, replace(template, imports=imports)


def _read(path: Path, lines: Sequence[Line]) -> Template:
    first = read_directive(lines[0]) if lines and lines[0].text.startswith("#: ") else None
    if first is None or first.word not in ("file", "when"):
        if path.suffix != ".py":
            return Template(path, tuple(lines), (), (), ())
        return Template(path, None, (), *read_parts(lines))
    words = first.condition
    under = [line.when(words) for line in lines[1:]]
    if first.word == "when":
        return Template(path, None, words, *read_parts(under))
    end = max((n for n, line in enumerate(under) if line.text == "#: end file"), default=len(under))
    whole = under[:end]
    while whole and not whole[-1].text.strip() and end < len(under):
        whole.pop()
    return Template(path, tuple(whole), words, *read_parts(under[end + 1 :]))


def find_sources(situation: Situation, components: Iterable[Component]) -> dict[str, list[Source]]:
    """What applies, by the name of the file in the project."""
    found: dict[str, list[Source]] = {}
    for component in components:
        for target, template in read_templates(component):
            if not situation.holds(component, template.condition):
                continue
            parts = tuple(
                part
                for part in template.parts
                if situation.holds(component, part.directive.condition)
            )
            if template.whole is not None or parts or template.imports:
                found.setdefault(target, []).append(Source(component, template, parts))
    return found


def choose_whole(sources: Iterable[Source]) -> Source | None:
    """The source of a whole file: that of the task, if there are several."""
    wholes = [source for source in sources if source.template.whole is not None]
    own = [source for source in wholes if isinstance(source.component, Task)] or wholes
    if len(own) > 1:
        last, first = own[-1].template, own[0].template
        raise TemplateError(last.path, last.number, f"{first.path} also writes this file")
    return own[0] if own else None


def coded_values(component: Component, option: str) -> frozenset[str]:
    """The values of an option that have code of their own."""
    return frozenset(value for name, value in _coded_values(component.manifest) if name == option)


@cache
def _coded_values(manifest: Path) -> frozenset[tuple[str, str]]:
    paths = [path for _, path in _walk(manifest.parent, manifest, "")]
    templates = [template for path in paths for _, template in read_template(path)]
    conditions = [template.condition for template in templates]
    conditions += [part.directive.condition for one in templates for part in one.parts]
    tests = (test for words in conditions for test in read_condition(words))
    return frozenset((test.name, value) for test in tests for value in test.values)
