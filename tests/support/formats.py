"""Another dataset format of a task, which begins as a copy of one that is there."""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from scaffold.answers.catalog import Catalog, Component, Feature, Shared, Task
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import can_fit
from scaffold.render.check import read_all
from scaffold.render.conditions import Test, Words, read_condition
from scaffold.render.duties import can_be
from scaffold.render.imports import merge_imports, used_imports
from scaffold.render.places import Line, Part, find_names, read_directive, read_lines
from scaffold.render.templates import Template, read_template


@dataclass
class Format:
    """A value of a task's option `dataset`, and another one that it is like."""

    catalog: Catalog
    task: Task
    name: str
    like: str
    copied: dict[str, list[tuple[Template, Part]]] = field(default_factory=dict)  # by target
    named: dict[Path, set[int]] = field(default_factory=dict)  # the lines that name both
    library: set[tuple[str, str]] = field(default_factory=set)  # modules, names in them

    def write(self) -> Iterator[Path]:
        """The manifest, the files of the format, and the templates that name it: all that change.

        Lines for the other format alone are copied. Conditions that name it beside others get the
        name of this one, too.
        """
        self._find()
        if "data.py" not in self.copied:
            raise SystemExit(
                f"{self.like} has no lines of its own in data.py: begin as another one, with "
                f"--like. There are {', '.join(formats_of(self.task))}."
            )
        _extend_manifest(self.task.manifest, self.name, self.like)
        yield self.task.manifest
        (self.task.folder / self.name).mkdir()
        for target in sorted(self.copied, key=lambda target: (target != "data.py", target)):
            path = self.path_of(target)
            text = path.read_text(encoding="utf-8") if path.exists() else ""
            path.write_text(self._copy(target, text), encoding="utf-8")
            if not text:
                yield path
        for path, numbers in sorted(self.named.items()):
            rows = path.read_text(encoding="utf-8").splitlines(keepends=True)
            for number in numbers:
                rows[number - 1] = self._pattern.sub(rf"\g<0>|{self.name}", rows[number - 1])
            path.write_text("".join(rows), encoding="utf-8")
            yield path

    def path_of(self, target: str) -> Path:
        """Where lines for a file of the project stand."""
        name = "tests.py" if target.startswith("tests/") else target
        return self.task.folder / self.name / name

    @property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(rf"\bdataset=(?:\w+\|)*{self.like}\b")

    def _find(self) -> None:
        for target, rows in read_all(self.catalog).items():
            for component, template in rows:
                if target == "data.py" and isinstance(component, Task | Shared):
                    self._note_library(component, template)
                if not self._can_be(component, template.condition):
                    continue
                for line in template.whole or ():
                    self._note(component, line)
                if template.whole is not None:
                    self._note_heads(component, template)
                for part in template.parts:
                    self._find_part(target, component, template, part)

    def _find_part(self, target: str, component: Component, template: Template, part: Part) -> None:
        words = (*template.condition, *part.directive.condition)
        if not self._can_be(component, words):
            return
        own = isinstance(component, Task | Shared)
        if own and any(test.values == (self.like,) for test in self._tests(component, words)):
            self.copied.setdefault(target, []).append((template, part))
            return
        for line in (part.directive.line, *part.lines):
            self._note(component, line)
        self._note_heads(component, template)

    def _note_library(self, component: Component, template: Template) -> None:
        """Note what a template of data.py takes from the library, for any format of the task."""
        lacks = self.catalog.traits.keys() - self.task.can_have
        if not can_be(self.task, lacks, component, template.condition):
            return
        names = find_names(template.whole or ())
        for part in template.parts:
            if can_be(self.task, lacks, component, part.directive.condition):
                names |= part.names
        self.library |= set(_library_names(used_imports(template.imports, names)))

    def _note_heads(self, component: Component, template: Template) -> None:
        """The same for the conditions of a whole template."""
        lines = read_lines(template.path)
        for number in {1, template.number}:
            self._note(component, lines[number - 1])

    def _note(self, component: Component, line: Line) -> None:
        """Note a line whose condition names the other format."""
        directive = read_directive(line)
        if directive and any(self._tests(component, directive.condition)):
            self.named.setdefault(line.path, set()).add(line.number)

    def _can_be(self, component: Component, words: Words) -> bool:
        """Whether a project with the other format can have this."""
        if isinstance(component, Feature) and not can_fit(component, self.task):
            return False
        tests = [test for test in read_condition(words) if self._is_dataset(component, test)]
        lacks = self.catalog.traits.keys() - self.task.can_have
        fits = all(self.like in test.values for test in tests)
        return fits and can_be(self.task, lacks, component, words)

    def _tests(self, component: Component, words: Words) -> Iterator[Test]:
        """What a condition asks of the format, if the other one is among the answers."""
        for test in read_condition(words):
            if self._is_dataset(component, test) and self.like in test.values:
                yield test

    def _is_dataset(self, component: Component, test: Test) -> bool:
        own = isinstance(component, Task | Shared) and test.name == "dataset"
        return own or test.name == f"{self.task.name}.dataset"

    def _copy(self, target: str, before: str) -> str:
        """The lines for a file, below those that are there for other tests."""
        parts = self.copied[target]
        blocks = [used_imports(one.imports, find_names(part.lines)) for one, part in parts]
        imports = [line.text for line in merge_imports(blocks, local={"lib", *self._modules()})]
        if before:
            head, _, rest = before.partition("\n\n#: into ")
            rows = [head, *imports, "", f"#: into {rest.rstrip()}", ""]
        else:
            rows = [f"#: when dataset={self.name}", *imports, ""]
        if target.startswith("tests/"):
            rows.append(f"#: into {target}")
        for template, part in parts:
            directive = part.directive
            rest = self._rest((*template.condition, *directive.condition))
            rows.append(" ".join(("#:", directive.word, directive.name, *rest)))
            rows += [self._pattern.sub(f"dataset={self.name}", line.text) for line in part.lines]
            rows.append("")
        return "\n".join(rows).rstrip() + "\n"

    def _modules(self) -> set[str]:
        """The modules of a project."""
        return {Path(target).stem for target in read_all(self.catalog) if target.endswith(".py")}

    def _rest(self, condition: Words) -> list[str]:
        """What a condition asks beside the task and the format."""
        tests = list(dict.fromkeys(read_condition(condition)))
        words = [
            f"{test.name}={'|'.join(test.values)}"
            for test in tests
            if test.word == "when" and test.name not in ("dataset", "project.task")
        ]
        named = [word for test in tests if test.word != "when" for word in (test.word, test.name)]
        return [*(["when"] if words else []), *words, *named]


def formats_of(task: Task) -> list[str]:
    """The values of the option `dataset`."""
    options = [option for option in task.options if option.name == "dataset"]
    return [choice.value for option in options for choice in option.choices]


def add_format(root: Path, name: str, task: str, like: str) -> str:
    """Write a format. Returns what was written, and what to do with it."""
    catalog = load_catalog(root)
    if task not in catalog.tasks:
        raise SystemExit(f"there is no task {task!r}; there are: {', '.join(catalog.tasks)}.")
    known = formats_of(catalog.tasks[task])
    if like not in known:
        raise SystemExit(
            f"{task} has no dataset {like!r}: --like is one of {', '.join(known) or 'none'}."
        )
    if name in known:
        raise SystemExit(f"{task} already has a dataset {name!r}.")
    new = Format(catalog, catalog.tasks[task], name, like)
    written = list(new.write())
    load_catalog.cache_clear()
    read_template.cache_clear()
    return "\n".join(_advice(new, written))


def _extend_manifest(manifest: Path, name: str, like: str) -> None:
    """The choice behind the others, and its name where settings exist with the other one."""
    text = manifest.read_text(encoding="utf-8")
    entries = re.findall(r"\[\[options\.dataset\.choices\]\]\n(?:(?!\[).*\n)*", text)
    [entry] = [entry for entry in entries if f'value = "{like}"\n' in entry]
    own = "".join(row for row in entry.splitlines(True) if row.startswith(("[[", "help = ")))
    own = own.replace("help = ", f'value = "{name}"\nlike = "{like}"\nhelp = ')
    text = text.replace(entries[-1], f"{entries[-1].rstrip()}\n\n{own}\n")
    text = re.sub(rf'(?m)^(when = .*\bdataset = \[[^]]*"{like}")', rf'\1, "{name}"', text)
    manifest.write_text(text, encoding="utf-8")


def _advice(new: Format, written: Iterable[Path]) -> Iterator[str]:
    """What to edit, in the words of the files."""
    settings = [
        option.name
        for option in new.task.options
        if any(new.like in test.values for key, test in option.when.items() if "dataset" in key)
    ]
    folder = new.catalog.root.parent
    mine = [path for path in written if path not in new.named or path == new.task.manifest]
    yield f"Edit these, which begin as those of {new.like}:"
    entry = f"its entry: help, subject, dependencies; its settings: {', '.join(settings)}"
    notes = {new.task.manifest: entry}
    for target, parts in new.copied.items():
        notes[new.path_of(target)] = ", ".join(_tell(part) for _, part in parts)
    for path in mine:
        yield f"  {path.relative_to(folder).as_posix()}: {notes[path]}"
    yield f"These hold what several formats share, and now name {new.name}, too:"
    yield from (f"  {path.relative_to(folder).as_posix()}" for path in sorted(new.named))
    yield "From the library, the formats of this task use, as in `from lib.splits import ...`:"
    for module, name in sorted(new.library):
        yield from _describe(new.catalog.root / "lib", module, name)


def _tell(part: Part) -> str:
    """A place, and what its lines define."""
    found = [re.match(r"(?:def|class) (\w+)", line.text) for line in part.lines]
    names = ", ".join(match[1] for match in found if match)
    place = f"{part.directive.word} {part.directive.name}"
    return f"{place} ({names})" if names else place


def _library_names(imports: Iterable[Line]) -> Iterator[tuple[str, str]]:
    for node in ast.parse("\n".join(line.text for line in imports)).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lib."):
            yield from ((str(node.module), alias.name) for alias in node.names)


def _describe(folder: Path, module: str, name: str) -> Iterator[str]:
    """A definition of the library with the first line of its docstring."""
    text = (folder / f"{module.removeprefix('lib.')}.py").read_text(encoding="utf-8")
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            head = f"({ast.unparse(node.args)})" if isinstance(node, ast.FunctionDef) else ""
            about = (ast.get_docstring(node) or "").partition("\n")[0]
            yield f"  {module}.{name}{head}: {about}"
