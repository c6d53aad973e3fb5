"""Files of a run, as `folder / "metrics.jsonl"`, that both the owner's and generated code use."""

import ast
from collections import defaultdict
from collections.abc import Iterator

from scaffold.merge.checks.update import Update
from scaffold.merge.semantics.infer import Project
from scaffold.merge.semantics.names import is_test
from scaffold.merge.source.parse import last_name

_Places = dict[str, list[tuple[str, int]]]  # path and line, by folder and name of a file


def find_shared_files(update: Update) -> Iterator[tuple[str, str, int]]:
    """Files that the owner's code makes, and an update, too: path, what is wrong, and line."""
    old, new = _uses(update.before), _uses(update.after)
    grown = [name for name in old if len(new.get(name, ())) > len(old[name])]
    brought = _uses(update.fresh) if grown else {}
    for name in grown:
        if name in brought and len(new[name]) >= len(old[name]) + len(brought[name]):
            (path, line), *others = new[name]
            there = ", ".join(f"{other}:{number}" for other, number in others)
            yield path, f"the file {name} is used in {there}, too", line


def find_gone_files(update: Update) -> Iterator[tuple[str, str, int]]:
    """Uses of files that an update does not make any more, in tests and in code that it leaves as
    it is: path, what is wrong, and line."""
    old, new = _uses(update.before), _uses(update.after)
    gone = {_name(use) for use in old if len(new.get(use, ())) < len(old[use])}
    for use, places in new.items():
        # a text that did not change has the same facts
        if any(update.before.files.get(path) is not update.after.files[path] for path, _ in places):
            gone.discard(_name(use))
    left = _uses(update.after, tests=True) if gone else {}
    gone -= {_name(use) for use in (_uses(update.fresh, tests=True) if left else ())}
    for use, places in left.items():
        if _name(use) in gone:
            yield from ((path, f"{_name(use)} is no longer written", line) for path, line in places)


def _name(use: str) -> str:
    return use.rpartition(" / ")[2]


def _uses(project: Project, tests: bool = False) -> _Places:
    """Where paths of files stand in the code, by the name of their folder and their own.

    A folder in a variable is another one in each file, unless an attribute has that name.
    """
    found: _Places = defaultdict(list)
    lefts = (node.left for facts in project.files.values() for node in facts.divisions)
    attributes = {left.attr for left in lefts if isinstance(left, ast.Attribute)}
    for path, facts in sorted(project.files.items()):
        for node in facts.divisions if tests or not is_test(path) else ():
            folder = last_name(node.left)
            is_local = isinstance(node.left, ast.Name) and folder not in attributes
            where = f"{path}: " if is_local else ""
            match node.right:
                case ast.Constant(str() as name) if "." in name:
                    found[f'{where}{folder} / "{name}"'].append((path, node.lineno))
    return found
