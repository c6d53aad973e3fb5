"""Changes of a deleted file whose code its owner has in another one, written in another way.

Files that were moved are found before (`project/moves.py`), and so are definitions that were moved
as they are (`normalize/moved_definitions.py`).
"""

import ast
from collections.abc import Iterator, Mapping
from difflib import unified_diff

from scaffold.merge.semantics.names import defines, is_test
from scaffold.merge.source.parse import nodes_of, tree_of
from scaffold.merge.source.versions import Versions

# definitions by the same names, from which on another file counts as the new place
SHARED, SHARED_WITH_NEW = 2, 1
SHOWN = 40  # rows of a change


def tell_deleted(project: Versions, merged: Mapping[str, str | None]) -> Iterator[str]:
    """Warnings with the changes of deleted files whose code is elsewhere without them.

    `merged` are the files after the update that it concerns.
    """
    for name in sorted(project.base.keys() & project.theirs.keys()):
        path, base, new = project.place(name), project.base[name], project.theirs[name]
        if path in project.ours or new == base or not path.endswith(".py") or is_test(path):
            continue
        places = _places(base, project)
        if not places or not _is_missing(base, new, places, merged):
            continue
        rows = list(unified_diff(base.splitlines(), new.splitlines(), lineterm="", n=1))[2:]
        if len(rows) > SHOWN:
            rows[SHOWN:] = [f"... and {len(rows) - SHOWN} more lines"]
        where = " or ".join(sorted(places))
        advice = f"{path}: you deleted it. If its code is in {where} now, make this change there:"
        yield "\n".join([advice, *(f"  {row}" for row in rows)])


def _places(base: str, project: Versions) -> dict[str, dict[str, str]]:
    """The owner's files that have the code of a deleted one, with what they define."""
    before = _definitions(base)
    # a method may share its name, and each script has a main()
    names = {name for name in before if defines(base, name) and name != "main"}
    found = {}
    for path, text in project.ours.items():
        if names and path.endswith(".py") and not is_test(path):
            least = SHARED if path in project.base else SHARED_WITH_NEW
            defined = _definitions(text)
            if len(defined.keys() & names) >= min(least, len(names)):
                found[path] = defined
    return found


def _is_missing(
    base: str, new: str, places: Mapping[str, dict[str, str]], merged: Mapping[str, str | None]
) -> bool:
    """Whether no file has what changes in a deleted one."""
    before, after = _definitions(base), _definitions(new)
    changed = {name for name, code in after.items() if code != before.get(name)}
    for path, text in merged.items():
        now = _definitions(text or "") if path.endswith(".py") else {}
        changed -= {name for name, code in now.items() if code != places.get(path, {}).get(name)}
    return bool(changed)


def _definitions(text: str) -> dict[str, str]:
    """The code of functions, methods and classes by name. Nothing if it is not valid Python."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    nodes = nodes_of(tree_of(text))
    return {node.name: ast.dump(node) for node in nodes if isinstance(node, kinds)}
