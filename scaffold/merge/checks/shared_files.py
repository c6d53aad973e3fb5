"""Files of a run that both the owner's code and the code of an update make."""

import ast
from collections import defaultdict
from collections.abc import Iterator

from scaffold.merge.checks.update import Update
from scaffold.merge.semantics.infer import Project
from scaffold.merge.semantics.names import is_test
from scaffold.merge.source.parse import last_name

_Places = dict[tuple[str, str], list[tuple[str, int]]]


def find_shared_files(update: Update) -> Iterator[tuple[str, str, int]]:
    """Paths such as `config.output_dir / "best.safetensors"` that the owner wrote for himself, and
    that an update brings for something else: path, what is wrong, and line."""
    old, new = _paths(update.before), _paths(update.after)
    grown = [name for name in old if len(new.get(name, ())) > len(old[name])]
    brought = _paths(update.fresh) if grown else {}
    for name in grown:
        if len(new[name]) < len(old[name]) + len(brought.get(name, ())) or name not in brought:
            continue  # it was there before, or both sides wrote the same line
        (path, line), *others = new[name]
        there = ", ".join(f"{other}:{number}" for other, number in others)
        yield path, f'the file {name[0]} / "{name[1]}" is used in {there}, too', line


def _paths(project: Project) -> _Places:
    """Where paths of files stand in the code, by the name of their folder and their own."""
    found: _Places = defaultdict(list)
    for path, facts in sorted(project.files.items()):
        for node in () if is_test(path) else facts.divisions:
            match node.right:
                case ast.Constant(str() as name) if "." in name:
                    found[last_name(node.left), name].append((path, node.lineno))
    return found
