"""What a task must bring: the places of other files that need a statement, and whose filling it is.

A file with `...  #: slot NAME` is no Python until something fills the slot. Where neither its own
component nor what tasks share does, each task has to that goes with the component.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from scaffold.answers.catalog import Catalog, Component, Feature, Task
from scaffold.answers.resolve import can_fit
from scaffold.errors import TemplateError
from scaffold.render.conditions import Words, read_condition
from scaffold.render.places import Line, Part, read_directive
from scaffold.render.templates import Template

Templates = Mapping[str, list[tuple[Component, Template]]]


@dataclass(frozen=True)
class Duty:
    """A slot that must be filled."""

    owner: Component  # that brings the file
    target: str
    slot: str
    regions: frozenset[str]  # around it: who replaces one of them need not fill the slot
    condition: Words  # of the file

    def binds(self, catalog: Catalog, task: Task) -> bool:
        """Whether projects of the task can have the file."""
        if isinstance(self.owner, Feature) and not can_fit(self.owner, task):
            return False
        return can_be(task, catalog.traits.keys() - task.can_have, self.owner, self.condition)


def find_duties(found: Templates) -> Iterator[Duty]:
    """All slots that need a statement, in whole files."""
    for target, rows in found.items():
        for owner, template in rows:
            if target.endswith(".py") and not isinstance(owner, Task):
                for slot, regions in _statements(template.whole or ()):
                    yield Duty(owner, target, slot, frozenset(regions), template.condition)


def _statements(lines: Iterable[Line]) -> Iterator[tuple[str, list[str]]]:
    """Each slot that needs a statement, with the regions around it."""
    open_regions: list[str] = []
    for line in lines:
        directive = read_directive(line)
        if directive and directive.word == "region":
            open_regions.append(directive.name)
        elif directive and directive.word == "end":
            open_regions.remove(directive.name)
        elif directive and directive.word == "slot" and directive.needs_code:
            yield directive.name, list(open_regions)


def is_done(
    catalog: Catalog, duty: Duty, task: Task, rows: Iterable[tuple[Component, Template]]
) -> bool:
    """Whether something fills the slot of a file in projects of a task."""
    lacks = catalog.traits.keys() - task.can_have
    return any(
        _does(duty, part)
        and can_be(task, lacks, component, (*template.condition, *part.directive.condition))
        for component, template in rows
        for part in template.parts
    )


def _does(duty: Duty, part: Part) -> bool:
    word, name = part.directive.word, part.directive.name
    return (word == "slot" and name == duty.slot) or (word == "replace" and name in duty.regions)


def can_be(task: Task, lacks: Collection[str], component: Component, condition: Words) -> bool:
    """Whether a project of the task can have this: features and choices may be any."""
    if isinstance(component, Task) and component.name != task.name:
        return False
    for test in read_condition(condition):
        if test.word == "when" and test.name == "project.task" and task.name not in test.values:
            return False
        if test.word == "with" and test.name in lacks:
            return False
    return True


def check_duties(catalog: Catalog, found: Templates) -> None:
    """Raises TemplateError for a task that does not bring what a feature needs."""
    for duty in find_duties(found):
        for task in catalog.tasks.values():
            if duty.binds(catalog, task) and not is_done(catalog, duty, task, found[duty.target]):
                needs = " or ".join(f"{name!r}" for name in getattr(duty.owner, "needs", ()))
                hint = f", or take {needs} out of `has`" if needs else ""
                raise TemplateError(
                    task.manifest,
                    1,
                    f"{duty.owner.name} needs the slot {duty.slot!r} of {duty.target} from the "
                    f"task: fill it in {task.name}/{duty.target}{hint}",
                )


def tell_duties(catalog: Catalog, found: Templates) -> dict[tuple[str, str], list[str]]:
    """The slots that the task `own` fills itself, by component and file: what a new task brings."""
    task = catalog.tasks["own"]
    duties: dict[tuple[str, str], list[str]] = {}
    for duty in find_duties(found):
        others = [row for row in found[duty.target] if row[0] is not task]
        if duty.binds(catalog, task) and not is_done(catalog, duty, task, others):
            duties.setdefault((duty.owner.name, duty.target), []).append(duty.slot)
    return duties
