"""Where each line of a rendered file comes from: the template, its line, and the condition."""

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scaffold.answers.catalog import Catalog, Component, Feature, Task, Value, line_of
from scaffold.answers.settings import SETTINGS
from scaffold.errors import ScaffoldError
from scaffold.render.format import Remember, make_anew
from scaffold.render.places import Line
from scaffold.render.project import compose_project, fill, render_project
from scaffold.render.templates import active_components

_MARK = "\0"


@dataclass(frozen=True)
class Origin:
    """A line of a template."""

    template: str  # its path below the folder of the templates
    line: int
    condition: str  # what must hold, in the words of templates; '' if it always comes


@dataclass(frozen=True)
class Traced:
    """A rendered project whose lines know where they come from."""

    catalog: Catalog
    components: Sequence[Component]
    files: Mapping[str, str]
    sources: Mapping[str, Sequence[Line]]
    context: Mapping[str, Any]

    def rows(self, name: str) -> list[tuple[str, tuple[Origin, ...]]]:
        """Each line of a file, with its origins: several, if a formatter joined lines.

        `name` is the path in the project. Raises ScaffoldError if the project has no such file.
        """
        if name not in self.files:
            listed = ", ".join(self.files)
            raise ScaffoldError(f"the project has no file {name!r}: it has {listed}.")
        rows = self.files[name].split("\n")
        if rows[-1] == "":
            rows.pop()
        lines: Iterable[list[Line]]
        if name == SETTINGS:
            lines = ([line] for line in _settings(self.catalog, rows))
        else:
            lines = _lines(self.sources[name], self.context, rows, name.endswith(".py"))
        return [
            (row, tuple(dict.fromkeys(map(self._origin, found))))
            for row, found in zip(rows, lines, strict=True)
        ]

    def _origin(self, line: Line) -> Origin:
        owner = None
        for component in self.components:
            if line.path.is_relative_to(component.folder):
                owner = component
        condition = " ".join([*_condition(owner), *line.condition])
        template = line.path.relative_to(self.catalog.root).as_posix()
        return Origin(template, line.number, condition)


def trace(catalog: Catalog, answers: Mapping[str, Value], remember: Remember = make_anew) -> Traced:
    """A project with these answers, rendered so that its lines can be traced."""
    files = render_project(catalog, answers, remember)
    sources, context = compose_project(catalog, answers)
    return Traced(catalog, active_components(catalog, answers), files, sources, context)


def _condition(component: Component | None) -> Iterator[str]:
    """What must hold for a component to be in a project."""
    if isinstance(component, Task):
        yield f"when project.task={component.name}"
    elif isinstance(component, Feature):
        yield f"with {component.name}"


def _lines(
    sources: Sequence[Line], context: Mapping[str, Any], rows: Sequence[str], is_python: bool
) -> list[list[Line]]:
    """The lines of templates that the rows of a file come from."""
    if is_python:
        filled = fill(sources, context).split("\n")[: len(sources)]
        return [[sources[place] for place in places] for places in align(filled, rows)]
    found, place = [], 0
    for row in fill(list(_marked(sources)), context).split("\n"):
        if marks := re.findall(f"{_MARK}(\\d+){_MARK}", row):
            place = int(marks[0])
        found.append([sources[place]])
    return found[: len(rows)]


def _marked(lines: Sequence[Line]) -> Iterator[Line]:
    """The lines, each with its number, but for those that begin with or in a statement of Jinja."""
    inside = False
    for number, line in enumerate(lines):
        if inside or re.match(r"\s*{[%#]", line.text):
            yield line
        else:
            yield line._replace(text=f"{_MARK}{number}{_MARK}{line.text}")
        for sign in re.findall(r"{[{%#]|[}%#]}", line.text):
            inside = sign[0] == "{"


def same_lines(one: Sequence[str], two: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The places of the lines that both texts have, in their order."""
    matcher = difflib.SequenceMatcher(None, one, two, autojunk=False)
    for first, second, size in matcher.get_matching_blocks():
        yield from zip(range(first, first + size), range(second, second + size), strict=True)


def align(before: Sequence[str], after: Sequence[str]) -> list[list[int]]:
    """For each line after a formatter, the indices of those before that it comes from.

    Both hold the same code: a formatter changes spaces, quotes, parentheses and where lines end.
    """
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    places: list[list[int]] = []
    for _, start, end, first, last in matcher.get_opcodes():
        if end - start == last - first:
            places += ([place] for place in range(start, end))
        else:
            places += _align_tokens(before[start:end], after[first:last], start)
    return places


def _align_tokens(before: Sequence[str], after: Sequence[str], start: int) -> Iterator[list[int]]:
    old, new = _tokens(before), _tokens(after)
    matcher = difflib.SequenceMatcher(
        None, [token for token, _ in old], [token for token, _ in new], autojunk=False
    )
    found: dict[int, list[int]] = {}
    for one, two, size in matcher.get_matching_blocks():
        for step in range(size):
            found.setdefault(new[two + step][1], []).append(old[one + step][1])
    last = 0
    for row in range(len(after)):
        places = sorted(set(found.get(row, [last])))
        last = places[-1]
        yield [start + min(place, max(len(before) - 1, 0)) for place in places]


def _tokens(rows: Sequence[str]) -> list[tuple[str, int]]:
    """The words and signs of each line, with its index."""
    pattern = re.compile(r"\w+|[^\w\s(),'\"]")
    return [(token, place) for place, row in enumerate(rows) for token in pattern.findall(row)]


def _settings(catalog: Catalog, rows: Sequence[str]) -> Iterator[Line]:
    """The options that the rows of scaffold.toml come from."""
    table, origin = "", Line("", catalog.base.manifest, 1)
    manifests = {option.key: c.manifest for c in catalog.components for option in c.options}
    manifests |= {f.switch_key: f.manifest for f in catalog.features.values() if not f.switch}
    for row in rows:
        if match := re.match(r"\[([\w.]+)\]", row):
            table = match[1]
            first = next((key for key in manifests if key.rpartition(".")[0] == table), "")
            origin = Line(row, manifests.get(first, catalog.base.manifest), 1)
        elif match := re.match(r"(\w+) = ", row):
            manifest = manifests[f"{table}.{match[1]}"]
            origin = Line(row, manifest, line_of(manifest, f"[options.{match[1]}]"))
        yield origin
