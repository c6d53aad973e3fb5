"""What a file imports from other files of the project, or reads of its Config, and they lack."""

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from scaffold.merge.checks.update import Update
from scaffold.merge.semantics.modules import Modules, read_modules
from scaffold.merge.semantics.names import Fault, module_of
from scaffold.merge.semantics.scopes import Facts, Imported
from scaffold.merge.source.parse import fields_in
from scaffold.merge.source.training import CONFIG

NO_FIELD = "Config has no field {name}"


@dataclass(frozen=True)
class Missing:
    """A module that is not there, or a name that it lacks."""

    module: str  # as it is imported
    name: str  # in it; of a module itself, nothing
    source: str  # the file that should have it
    line: int = field(compare=False)


def missing_imports(modules: Modules, facts: Facts, known: Collection[str]) -> Iterator[Missing]:
    """What a file imports and the project lacks. `known` are the names of its modules, also
    before and after the update: others belong to packages."""
    for imported, line in facts.imports:
        found = modules.find_module(facts.path, imported)
        if imported.name and modules.submodule(facts.path, imported):
            continue
        module = "." * imported.level + imported.module
        if found is None:
            if imported.level or imported.module in known:
                yield Missing(module, "", f"{imported.module.replace('.', '/')}.py", line)
        elif imported.name not in ("", "*") and not modules.has_name(found, imported.name):
            yield Missing(module, imported.name, found, line)


def names_of_modules(paths: Iterable[str]) -> set[str]:
    """The names by which code may import files: with the folders that they are in, and without."""
    found = {module_of(path) for path in paths if path.endswith(".py")}
    return found | {name.rpartition(".")[2] for name in found}


def faults_across_files(files: Mapping[str, str], known: Collection[str]) -> dict[str, set[Fault]]:
    """What each file uses of others that does not exist there, for those that are Python."""
    modules = read_modules(files)
    fields = {path: set(_config_fields(facts)) for path, facts in modules.files.items()}
    homes = [path for path, names in fields.items() if names]
    found: dict[str, set[Fault]] = {}
    for path, facts in modules.files.items():
        found[path] = {_as_fault(row) for row in missing_imports(modules, facts, known)}
        for node, _ in facts.attributes if len(homes) == 1 else ():
            is_field = isinstance(node.value, ast.Name) and node.value.id == "config"
            if is_field and node.attr not in fields[homes[0]]:
                found[path].add(Fault(NO_FIELD, node.attr, homes[0]))
    return found


def find_circles(update: Update) -> Iterator[tuple[str, str, int]]:
    """Imports that an update brings, and that lead back to their own file."""
    before, after = _taken(update.before), _taken(update.after)
    for path, other in sorted(after.keys() - before.keys()):
        reached = [other]
        for place in reached:
            reached += [two for one, two in after if one == place and two not in reached]
        if path in reached:
            yield path, f"it imports {other}, which imports {path}", after[path, other]


def _taken(modules: Modules) -> dict[tuple[str, str], int]:
    """The line at which one file, as soon as it is read, takes names from another one."""
    found: dict[tuple[str, str], int] = {}
    for path, facts in modules.files.items():
        for node in facts.tree.body:
            if isinstance(node, ast.ImportFrom) and node.module:
                other = modules.find_module(path, Imported(node.module, node.level))
                found |= {(path, other): node.lineno} if other else {}
    return found


def _as_fault(row: Missing) -> Fault:
    if row.name:
        return Fault(f"{row.module} has no {{name}}", row.name, row.source)
    return Fault("the module {name} may be missing", row.module, row.source)


def _config_fields(facts: Facts) -> Iterator[str]:
    """The fields of the class Config of a file, also of its bases there: none if it has others."""
    classes = {node.name: node for node in facts.tree.body if isinstance(node, ast.ClassDef)}
    names = [CONFIG]
    for name in names:
        bases = classes[name].bases if name in classes else ()
        names += [ast.unparse(base) for base in bases if ast.unparse(base) not in names]
    for node in [classes[name] for name in names] if classes.keys() >= {*names} else ():
        yield from (name for name, _ in fields_in(node))
