"""Where the project's modules are now, as its owner's code spells it.

`from src.checkpoint import Checkpoints`, `from .checkpoint import Checkpoints`, or as generated:
new code is written as the code beside it, because a module that is imported under two names runs
twice.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from scaffold.merge.semantics.modules import read_modules
from scaffold.merge.source.versions import Files, Versions


@dataclass(frozen=True)
class Prefix:
    """What is in front of a module's name: dots, and packages."""

    level: int
    packages: str


Seen = dict[tuple[str, str], Counter[Prefix]]


@dataclass
class ImportPaths:
    """How each file imports modules, and which of them have moved."""

    moved: Mapping[str, str] = field(default_factory=dict)  # paths by names, also of other files
    by_file: Seen = field(default_factory=dict)  # by the importing file and the module's folder
    by_folder: Seen = field(default_factory=dict)  # by both folders
    by_target: dict[str, Counter[Prefix]] = field(default_factory=dict)  # absolute ones

    def put_on(self, path: str, text: str) -> str:
        """A generated file, as it would be written at this path."""
        if path.endswith(".py"):
            for name, place in self.moved.items():
                if name.endswith(".py"):
                    text = self._put_on(path, text, name, place)
        return text

    def put_on_commands(self, text: str, own: str) -> str:
        """A file that is not Python, such as a script that starts one, without the names that the
        owner's version still has."""
        for name, place in self.moved.items():
            words = re.compile(rf"(?<![\w./-]){re.escape(name)}(?![\w/-])")
            if name.endswith(".py") and not words.search(own):
                text = words.sub(place, text)
        return text

    def _put_on(self, path: str, text: str, name: str, place: str) -> str:
        old, new = PurePosixPath(name).stem, PurePosixPath(place).stem
        if not re.search(rf"\b{re.escape(old)}\b", text):
            return text
        prefix = self._prefix(path, str(PurePosixPath(place).parent))
        front = "." * prefix.level + prefix.packages
        dotted = f"{front}{'.' * bool(prefix.packages)}{new}"
        text = re.sub(
            rf"(?m)^([ \t]*)from {re.escape(old)} import\b", rf"\1from {dotted} import", text
        )
        alias = "" if old == new else f" as {old}"
        whole = f"from {front} import {new}{alias}" if front else f"import {new}{alias}"
        text = re.sub(rf"(?m)^([ \t]*)import {re.escape(old)}$", rf"\1{whole}", text)
        # what a test replaces by its name
        named = ".".join(filter(None, (self._absolute(place), new)))
        return re.sub(rf"((?:setattr|patch)\(\s*[\"']){re.escape(old)}\.", rf"\g<1>{named}.", text)

    def _prefix(self, path: str, folder: str) -> Prefix:
        here = str(PurePosixPath(path).parent)
        for seen in (self.by_file.get((path, folder)), self.by_folder.get((here, folder))):
            if seen:
                return seen.most_common(1)[0][0]
        return Prefix(0, self._absolute(f"{folder}/x"))

    def _absolute(self, place: str) -> str:
        """The packages of a module, for code anywhere."""
        folder = PurePosixPath(place).parent
        if seen := self.by_target.get(str(folder)):
            return seen.most_common(1)[0][0].packages
        return ".".join(folder.parts)


def follow_import_paths(project: Versions) -> Versions:
    """The project, in which base and theirs find the modules where they are now."""
    paths = find_import_paths(project.moved, project.ours)

    def put_on(files: Files) -> Files:
        spelled = {}
        for name, text in files.items():
            place = project.place(name)
            if name.endswith(".py"):
                spelled[name] = paths.put_on(place, text)
            else:
                spelled[name] = paths.put_on_commands(text, project.ours.get(place, ""))
        return spelled

    return replace(project, base=put_on(project.base), theirs=put_on(project.theirs))


def find_import_paths(moved: Mapping[str, str], ours: Files) -> ImportPaths:
    """How the owner's code imports modules. `moved` are new paths by the names of files."""
    moved = {name: place for name, place in moved.items() if name != place}
    import_paths = ImportPaths(moved)
    if not any(name.endswith(".py") for name in moved):
        return import_paths
    modules = read_modules(ours)
    for path, facts in modules.files.items():
        here = str(PurePosixPath(path).parent)
        for imported, _ in facts.imports:
            target = modules.submodule(path, imported) if imported.name else None
            packages = imported.module
            if target is None:
                target = modules.find_module(path, imported)
                packages = imported.module.rpartition(".")[0]
            if target is None or target.endswith("__init__.py"):
                continue
            folder, prefix = str(PurePosixPath(target).parent), Prefix(imported.level, packages)
            import_paths.by_file.setdefault((path, folder), Counter())[prefix] += 1
            import_paths.by_folder.setdefault((here, folder), Counter())[prefix] += 1
            if not imported.level:
                import_paths.by_target.setdefault(folder, Counter())[prefix] += 1
    return import_paths
