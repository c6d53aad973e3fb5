"""What a task must bring: the places of other files that need a statement, and whose filling it is.

A file with `...  #: slot NAME` is no Python until something fills the slot. Where neither its own
component nor what tasks share does, each task has to that goes with the component.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from scaffold.answers.catalog import Catalog, Component, Feature, Task
from scaffold.answers.resolve import can_fit, required
from scaffold.errors import TemplateError
from scaffold.render.conditions import Words, read_condition
from scaffold.render.places import Line, Part, read_directive
from scaffold.render.templates import Template

Rows = Sequence[tuple[Component, Template]]
Templates = Mapping[str, Rows]


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
        return _can_have(catalog, task, self.owner, self.condition)


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


def check_files(catalog: Catalog, found: Templates) -> None:
    """Raises TemplateError for lines of a task for files that none of its projects can have."""
    for task in catalog.tasks.values():
        lost = [
            (target, template, owners)
            for target, rows in found.items()
            for component, template in rows
            if component is task and (owners := _owners(rows)) and template.parts
            if not any(_can_have(catalog, task, owner, one.condition) for owner, one in owners)
        ]
        if lost:
            needs = {
                name
                for *_, owners in lost
                for owner, _ in owners
                for name in _needs(catalog, owner)
            }
            missing = " and ".join(repr(name) for name in sorted(needs - task.can_have))
            files = ", ".join(f"{target} ({t.path.name}:{t.number})" for target, t, _ in lost)
            hint = f", or add {missing} to `has`" if missing else ""
            raise TemplateError(
                lost[0][1].path,
                lost[0][1].number,
                f"projects of {task.name} can't have {files}: remove the lines for them{hint}",
            )


def _owners(rows: Rows) -> list[tuple[Component, Template]]:
    """What brings a file as a whole."""
    return [(owner, template) for owner, template in rows if template.whole is not None]


def _needs(catalog: Catalog, owner: Component) -> set[str]:
    """The traits that a task must have for it."""
    parts = [owner, *required(catalog, owner)] if isinstance(owner, Feature) else []
    return {name for part in parts for name in part.needs}


def _can_have(catalog: Catalog, task: Task, owner: Component, condition: Words) -> bool:
    """Whether projects of a task can have a file that something brings."""
    parts = [owner, *required(catalog, owner)] if isinstance(owner, Feature) else []
    fits = all(can_fit(part, task) for part in parts)
    return fits and can_be(task, catalog.traits.keys() - task.can_have, owner, condition)


def tell_duties(catalog: Catalog, found: Templates) -> dict[tuple[str, str], list[str]]:
    """The slots that the task `own` fills itself, by component and file: what a new task brings."""
    task = catalog.tasks["own"]
    duties: dict[tuple[str, str], list[str]] = {}
    for duty in find_duties(found):
        others = [row for row in found[duty.target] if row[0] is not task]
        if duty.binds(catalog, task) and not is_done(catalog, duty, task, others):
            duties.setdefault((duty.owner.name, duty.target), []).append(duty.slot)
    return duties
