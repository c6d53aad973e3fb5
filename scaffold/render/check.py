"""Checks all templates at once: faults that a project shows only with the answers that reach them.

A condition that means nothing, a place that no template has, a file that no project has, an import
that nothing uses, a file that a task must bring: each is an error with file and line.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from scaffold import __version__
from scaffold.answers.catalog import Catalog, Component, Task, line_of
from scaffold.answers.manifests import TASK_EXTRAS, TASK_VALUES
from scaffold.cache import signature
from scaffold.errors import TemplateError
from scaffold.render.conditions import fault
from scaffold.render.duties import Templates, can_be, check_duties, check_files
from scaffold.render.format import Remember
from scaffold.render.imports import bound_names, used_imports
from scaffold.render.library import Library, find_definitions
from scaffold.render.places import find_names, parse, places_in, read_directive
from scaffold.render.templates import Template, read_templates

_checked: dict[int, Catalog] = {}


def check_once(catalog: Catalog, remember: Remember) -> None:
    """Check the templates of a catalog, unless these files were checked before.

    Those of a package, or of the exported page, were checked before it was built. Raises
    TemplateError for the first fault.
    """
    if id(catalog) in _checked or catalog.root.parent == Path(__file__).parents[1]:
        return

    def check() -> str:
        check_templates(catalog)
        return "good"

    remember(f"templates {__version__} {signature(catalog.root)}", check)
    _checked[id(catalog)] = catalog


def check_templates(catalog: Catalog) -> None:
    """Raises TemplateError for the first fault."""
    found = read_all(catalog)
    library = Library(catalog.root / "lib")
    for shelf in library.shelves:
        parse(shelf.lines)
    for target, rows in found.items():
        wholes = [template for _, template in rows if template.whole is not None]
        if not wholes and target not in library.targets:
            first = rows[0][1]
            message = f"the project has no file {target}"
            raise TemplateError(first.path, first.number, message)
        places = {place for _, template in rows for place in _places(template)}
        places |= library.places(target)
        needed = set(_names_in_values(catalog, rows))
        needed.update(*(_imported_elsewhere(template) for _, template in rows))
        every = set[str]().union(*(template.all_names for _, template in rows))
        for component, template in rows:
            _check_conditions(catalog, component, template)
            if target.endswith(".py"):
                _check_parts(template, places)
                _check_imports(template, needed if template.parts else every)
                _check_library(library.folder, template)
    _check_values(catalog, found)
    _check_tasks(catalog, found)
    check_duties(catalog, found)
    check_files(catalog, found)


def read_all(catalog: Catalog) -> Templates:
    """Every template, by the name of the file in the project."""
    found: dict[str, list[tuple[Component, Template]]] = {}
    for component in (*catalog.components, *catalog.shared):
        for target, template in read_templates(component):
            found.setdefault(target, []).append((component, template))
    return found


def _places(template: Template) -> frozenset[tuple[str, str]]:
    """The slots and regions that a template offers."""
    return places_in(template.lines if template.path.suffix == ".py" else ())


def _check_conditions(catalog: Catalog, component: Component, template: Template) -> None:
    if template.condition and (message := fault(catalog, component, template.condition)):
        raise TemplateError(template.path, template.number, message)
    directives = [part.directive for part in template.parts]
    if template.path.suffix == ".py":
        directives += [found for line in template.lines if (found := read_directive(line))]
    for directive in directives:
        if directive.condition and (message := fault(catalog, component, directive.condition)):
            raise directive.line.error(message)


def _check_parts(template: Template, places: set[tuple[str, str]]) -> None:
    """Each place that the template fills must be one of those of the file."""
    for part in template.parts:
        directive = part.directive
        kind = "slot" if directive.word == "slot" else "region"
        word = "slot" if kind == "slot" else "replace"
        if (word, directive.name) not in places:
            known = ", ".join(sorted(name for other, name in places if other == word)) or "none"
            raise directive.line.error(f"there is no {kind} {directive.name!r}; there are: {known}")


def _check_imports(template: Template, needed: set[str]) -> None:
    """Each import must be used by the template, or by others of the file that do not import it."""
    used = needed | template.all_names
    for line in used_imports(template.imports, bound_names(template.imports) - used):
        raise line.error(f"nothing uses this: {line.text}")


def _imported_elsewhere(template: Template) -> set[str]:
    """The names that a template uses and does not import."""
    imports = [line for line in template.whole or () if line.text.startswith(("import ", "from "))]
    return template.all_names - bound_names(template.imports) - find_names(imports)


def _check_library(folder: Path, template: Template) -> None:
    """Each import from the library must be there."""
    for line in used_imports(template.imports, bound_names(template.imports)):
        list(find_definitions(folder, line))


def _names_in_values(catalog: Catalog, rows: Iterable[tuple[Component, Template]]) -> Iterator[str]:
    """The names in code that manifests bring into a file, as values of the task."""
    lines = (line.text for _, template in rows for line in template.lines)
    asked = {name for line in lines for name in re.findall(r"{{ *task\.(\w+)", line)}
    for component in (catalog.base, *catalog.tasks.values()) if asked else ():
        choices = (choice for option in component.options for choice in option.choices)
        own = component.values if isinstance(component, Task) else {}
        for values in (own, *(choice.values for choice in choices)):
            for value in (values.get(name) for name in asked):
                yield from re.findall(r"[^\W\d]\w*", value) if isinstance(value, str) else ()


# fields of a choice that are read by code, not by templates
CODE_READS = {*TASK_VALUES, *TASK_EXTRAS, "memory", "states", "writes"}


def _check_values(catalog: Catalog, found: Templates) -> None:
    """Each field of a choice that is none of the usual ones is read by a template."""
    every = [template for rows in found.values() for _, template in rows]
    texts = (line.text for template in every for line in template.lines)
    read = {name for text in texts for name in re.findall(r"\btask\.(\w+)", text)} | CODE_READS
    for component in catalog.components:
        for option in component.options:
            for choice in option.choices:
                for name in sorted(choice.values.keys() - read):
                    line = line_of(component.manifest, f"{name} =")
                    message = f"choice {choice.value!r} of {option.key}: unknown field {name!r}"
                    raise TemplateError(component.manifest, line, message)


def _check_tasks(catalog: Catalog, found: Templates) -> None:
    """Each task brings the files that every project imports."""
    for task in catalog.tasks.values():
        lacks = catalog.traits.keys() - task.can_have
        for name in ("data.py", "model.py"):
            rows = found.get(name, ())
            if not any(
                template.whole is not None and can_be(task, lacks, component, template.condition)
                for component, template in rows
            ):
                raise TemplateError(task.manifest, 1, f"the task has no {name}")
