"""Errors that an update causes anywhere in a project, such as uses of code that it removes.

The merge looks at the files that it merges; this looks at all files together, before and after.
What was wrong before is the owner's; what a fresh render has is meant. Nothing is executed.
"""

import ast
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from scaffold.merge.checks.calls import wrong_calls
from scaffold.merge.checks.changed_functions import (
    lost_results,
    misplaced_arguments,
    new_calls_misread,
)
from scaffold.merge.checks.early_uses import may_be_unset, used_too_early
from scaffold.merge.checks.imports import find_circles, missing_imports, names_of_modules
from scaffold.merge.checks.lost_keys import find_lost_keys
from scaffold.merge.checks.scripts import SCRIPTS, gone_flags
from scaffold.merge.checks.shared_files import find_gone_files, find_shared_files
from scaffold.merge.checks.unsaved_state import find_unsaved_state
from scaffold.merge.checks.unused import find_unused
from scaffold.merge.checks.update import Update, read_project
from scaffold.merge.semantics.infer import Project
from scaffold.merge.semantics.names import UNDEFINED, find_faults, module_of
from scaffold.merge.semantics.scopes import Facts, Scope
from scaffold.merge.semantics.types import Class, Module, Object
from scaffold.merge.source.notebooks import NOTEBOOK, cell_of, notebook_code
from scaffold.merge.source.versions import Files

_MOST_FILES = 200  # of a larger project, only files that its code imports are checked
_IMPORT = r"(?m)^[ \t]*(?:from|import) .*"


@dataclass(frozen=True)
class Wrong:
    """One thing that is wrong; two are the same wherever they stand in a file."""

    path: str
    text: str
    line: int = field(compare=False)
    cell: str = field(default="", compare=False)  # of a notebook, instead of the line

    def __str__(self) -> str:
        return f"{self.path}:{self.cell or self.line}: {self.text}"


# each yields path, what is wrong, and line
CHECKS: tuple[Callable[[Update], Iterator[tuple[str, str, int]]], ...] = (
    find_circles,
    find_lost_keys,
    find_unused,
    find_shared_files,
    find_gone_files,
    find_unsaved_state,
    new_calls_misread,
    lost_results,
    misplaced_arguments,
    gone_flags,
)


def find_new_wrongs(before: Files, after: Files, rendered: Files) -> list[Wrong]:
    """What is wrong after an update and was not before, in the order of files and lines.

    Of Python files, notebooks and shell scripts. `rendered` is the project without edits.
    """
    scripts = {path: text for path, text in after.items() if path.endswith(SCRIPTS)}
    before, after, rendered = (_code_of(files) for files in (before, after, rendered))
    near = _near(before, after, rendered)
    before, after = (
        {path: files[path] for path in sorted(files.keys() & near)} for files in (before, after)
    )
    update = Update(read_project(before), read_project(after), rendered, scripts)
    modules = names_of_modules((*before, *after, *rendered))
    found = [*_find(update.after, after, before, modules)]
    if found:
        known = {*_find(update.before, before, after, modules)}
        found = [wrong for wrong in found if wrong not in known]
    if found:
        meant = {*_find(update.fresh, rendered, before, modules)}
        found = [wrong for wrong in found if wrong not in meant]
    found += [Wrong(*row) for check in CHECKS for row in check(update)]
    found = [
        (
            replace(row, cell=cell_of(after[row.path], row.line))
            if row.path.endswith(NOTEBOOK)
            else row
        )
        for row in found
    ]
    unique = {(wrong.path, wrong.text): wrong for wrong in reversed(found)}
    return sorted(unique.values(), key=lambda wrong: (wrong.path, wrong.line, wrong.text))


def checked_in(files: Mapping[str, str | None]) -> dict[str, str]:
    """The files that are there, of the kinds that are checked."""
    kinds = (".py", NOTEBOOK, *SCRIPTS)
    return {path: text for path, text in files.items() if text is not None and path.endswith(kinds)}


def _code_of(files: Files) -> dict[str, str]:
    """The Python files and the code of notebooks."""
    code = {path: text for path, text in files.items() if path.endswith(".py")}
    notebooks = {path: text for path, text in files.items() if path.endswith(NOTEBOOK)}
    return code | {path: notebook_code(text) for path, text in notebooks.items()}


def _near(before: Files, after: Files, rendered: Files) -> set[str]:
    """The files to look at: of a large folder, only those that have to do with the project."""
    every = {*before, *after}
    if len(every) <= _MOST_FILES:
        return every
    texts = {**before, **after}
    imports = {
        path: set(re.findall(r"\w+", " ".join(re.findall(_IMPORT, text))))
        for path, text in texts.items()
    }
    stems = {path: PurePosixPath(path).stem for path in every}
    near = every & rendered.keys()
    names = {stems[path] for path in near}
    near |= {path for path in every if imports[path] & names}
    used = set().union(*(imports[path] for path in near))
    return near | {path for path in every if stems[path] in used}


def _find(
    project: Project, files: Files, others: Files, modules: Collection[str]
) -> Iterator[Wrong]:
    """All that is wrong in a project. Names are looked at in files that differ from the others."""
    for path, facts in project.files.items():
        changed = files[path] != others.get(path)
        if changed or facts.stars:
            yield from _undefined(project, facts, files[path])
        for row in missing_imports(project, facts, modules):
            lacks = f"imports the module {row.module}, which does not exist"
            if row.name:
                lacks = f"imports {row.name} from {row.module}, which does not define it"
            yield Wrong(path, lacks, row.line)
        yield from _attributes(project, facts)
        for line, text in wrong_calls(project, facts):
            yield Wrong(path, text, line)


def _undefined(project: Project, facts: Facts, text: str) -> Iterator[Wrong]:
    stars = [project.find_module(facts.path, star) for star in facts.stars]
    found: dict[str, int] = {}  # with their lines
    for fault in find_faults(text):
        has = [star is None or project.has_name(star, fault.name) for star in stars]
        if fault.kind == UNDEFINED or (fault.kind.startswith("ImportStarUsage") and not any(has)):
            found.setdefault(fault.name, fault.line)
    early = list(used_too_early(facts))
    for name, line in early:
        found.pop(name, None)
        yield Wrong(facts.path, f"the name {name} is used before it is set", line)
    for name, line in sorted({*may_be_unset(facts)} - {*early}):
        yield Wrong(facts.path, f"the name {name} may not be set here", line)
    for name, line in found.items():
        yield Wrong(facts.path, f"the name {name} is not defined", line)


def _attributes(project: Project, facts: Facts) -> Iterator[Wrong]:
    """Attributes of modules, of classes and of their objects, also those that a test replaces."""
    asked: set[str] = set()  # with hasattr()
    uses: list[tuple[ast.expr, str, Scope, ast.expr]] = [
        (node.value, node.attr, scope, node)
        for node, scope in facts.attributes
        if isinstance(node.ctx, ast.Load)
    ]
    for call, scope in facts.calls:
        match call:
            case ast.Call(ast.Name("hasattr"), [_, ast.Constant(str() as name), *_]):
                asked.add(name)
            case ast.Call(ast.Name("getattr"), [value, ast.Constant(str() as name), *_]):
                uses.append((value, name, scope, call))
            case ast.Call(
                ast.Attribute(attr="setattr"), [value, ast.Constant(str() as name), _], []
            ):
                uses.append((value, name, scope, call))
            case ast.Call(ast.Attribute(ast.Attribute(attr="patch"), "multiple"), [value]):
                names = [word.arg for word in call.keywords if word.arg]
                uses += [(value, name, scope, call) for name in names if "create" not in names]
    for item, scope in facts.items:
        match item:
            case ast.Subscript(
                ast.Call(ast.Name("asdict" | "vars") | ast.Attribute(attr="asdict"), [value]),
                ast.Constant(str() as name),
            ):
                uses.append((value, name, scope, item))
    for value, name, scope, node in uses:
        owner = _lacks(project, value, name, scope)
        if owner and name not in asked and not name.startswith("__"):
            yield Wrong(facts.path, f"{ast.unparse(node)}: {owner} has no {name}", node.lineno)


def _lacks(project: Project, value: ast.expr, name: str, scope: Scope) -> str:
    """The module or class of a value, if it has no attribute of this name."""
    kind = project.kind(value, scope)
    if isinstance(kind, Module):
        package = kind.path.removesuffix("__init__.py")
        inner = {f"{package}{name}.py", f"{package}{name}/__init__.py"} & project.files.keys()
        has = project.has_name(kind.path, name) or (package != kind.path and inner)
        return "" if has else module_of(kind.path)
    if isinstance(kind, Class | Object):
        own = kind.of if isinstance(kind, Object) else kind
        members = project.members(own)
        has = members.is_open or name in members.bindings or name in project.added[own]
        return "" if has or name == "mro" else own.name
    return ""
