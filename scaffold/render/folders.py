"""The template folders that a project's text comes from, given its answers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from scaffold.answers.catalog import Catalog, Component, Option, Value
from scaffold.answers.schema import active_features, applies, traits
from scaffold.errors import TemplateError
from scaffold.render.places import Fragment, read_fragment


def active_components(catalog: Catalog, answers: Mapping[str, Value]) -> list[Component]:
    task = catalog.tasks[str(answers["project.task"])]
    names = traits(catalog, answers)
    found = [trait for name, trait in catalog.traits.items() if name in names]
    return [catalog.base, catalog.hardware, *found, task, *active_features(catalog, answers)]


@dataclass(frozen=True)
class Folder:
    """A folder with files/ and fragments/; versions from the task or its traits win."""

    component: Component
    versions: tuple[Path, ...]  # the last is the component's own

    @cached_property
    def files(self) -> dict[str, Path]:
        """The sources of complete files, by their name in the project."""
        return self._find("files")

    @cached_property
    def fragments(self) -> dict[str, Path]:
        """The sources of code for places in other files, by the name of that file."""
        return self._find("fragments")

    def _find(self, kind: str) -> dict[str, Path]:
        found: dict[str, Path] = {}
        for version in reversed(self.versions):
            folder = version / kind
            for path in sorted(path for path in folder.rglob("*") if path.is_file()):
                if "__pycache__" not in path.parts:
                    found[path.relative_to(folder).as_posix()] = path
        return found


def source_folders(
    catalog: Catalog, answers: Mapping[str, Value], components: Iterable[Component]
) -> list[Folder]:
    """All folders that a project comes from: that of each component and of each choice.

    Inside any of these, `with/NAME/` is for when that feature is on, too, and `without/NAME/` for
    when it is off. Inside that of a choice, another choice is for both of them. A task or a trait
    can have a version of its own of what a feature has, in `features/NAME/`. The options that a
    trait has folders for are those of the task.
    """
    components = list(components)
    special = [part.folder for part in components if part.kind in ("task", "trait")]
    active = [part.name for part in components if part.kind == "feature"]
    task = catalog.tasks[str(answers["project.task"])]
    folders = []
    for component in components:
        options = task.options if component.kind == "trait" else component.options
        choices = [
            Path(option.name, _folder_name(option, answers[option.key]))
            for option in options
            if option.type != "float" and applies(catalog, option, answers)
        ]
        parts = [Path(), *choices]
        for part in parts:  # those that are found are looked into, too
            folder = component.folder / part
            beside = [path for path in sorted(folder.glob("with/*")) if path.name in active]
            beside += [path for path in sorted(folder.glob("without/*")) if path.name not in active]
            if part in choices:  # a choice together with another one
                beside += [
                    path for path in (folder / choice for choice in choices) if path.is_dir()
                ]
            parts += [path.relative_to(component.folder) for path in beside]
        for part in parts:
            own = component.folder / part
            versions = [own]
            if component.kind == "feature":
                versions = [folder / "features" / component.name / part for folder in special]
                versions = [*reversed(versions), own]
            folders.append(Folder(component, tuple(filter(Path.is_dir, versions))))
    return folders


def _folder_name(option: Option, value: Value) -> str:
    """A choice or number: its value. Yes or no: `true` or `false`. A text: `given` or `empty`."""
    if option.type in ("choice", "int"):
        return str(value)
    return str(value).lower() if option.type == "bool" else "given" if value else "empty"


def collect_files(folders: Iterable[Folder]) -> dict[str, Path]:
    """The source of each file of the project. A task may have its own version of a file."""
    found: dict[str, Path] = {}
    owners: dict[str, Component] = {}
    for folder in folders:
        component = folder.component
        for name, path in folder.files.items():
            if name in found and component.kind != "task" and owners[name] is not component:
                raise TemplateError(path, 1, f"{found[name]} also writes this file")
            found[name], owners[name] = path, component
    return found


def collect_fragments(folders: Iterable[Folder], name: str) -> list[Fragment]:
    found = (folder.fragments.get(name) for folder in folders)
    return [read_fragment(path) for path in found if path]


def check_fragment_targets(
    catalog: Catalog, folders: Iterable[Folder], names: Mapping[str, Path]
) -> None:
    """Raises TemplateError for code that belongs to a file which no project has.

    A file of another loop is not missed: the minimal one has few files.
    """
    loops = catalog.base.folder.glob("loop/*/files")
    elsewhere = {
        path.relative_to(files).as_posix() for files in loops for path in files.rglob("*.py")
    }
    for folder in folders:
        for name, path in folder.fragments.items():
            if name not in names and name not in elsewhere:
                raise TemplateError(path, 1, f"the project has no file {name}")
