"""Changes of a deleted file whose code its owner has in another one, written in another way.

Files that were moved are found before (`project/moves.py`), and so are definitions that were moved
as they are (`normalize/moved_definitions.py`).
"""

import ast
from collections.abc import Iterator, Mapping, Set
from difflib import unified_diff

from scaffold.merge.semantics.names import defines, is_test
from scaffold.merge.source.parse import nodes_of, parse
from scaffold.merge.source.versions import Files, Versions

# definitions by the same names, from which on another file counts as the new place
SHARED, SHARED_WITH_NEW = 2, 1
SHOWN = 40  # rows of a change


def tell_deleted(project: Versions, merged: Mapping[str, str | None]) -> Iterator[str]:
    """Warnings with the changes of deleted files whose code is elsewhere without them.

    `merged` are the files after the update that it concerns.
    """
    for name in sorted(project.base.keys() & project.theirs.keys()):
        path, base, new = project.place(name), project.base[name], project.theirs[name]
        if path not in project.ours and new != base and path.endswith(".py"):
            added = project.ours.keys() - project.base.keys()
            yield from filter(None, [_change(path, (base, new), project.ours, added, merged)])


def _change(
    path: str,
    sides: tuple[str, str],
    ours: Files,
    added: Set[str],
    merged: Mapping[str, str | None],
) -> str:
    """What changes in a deleted file, if another one has its code without the change.

    `added` are the files of `ours` that were not generated.
    """
    base, new = sides
    before, after = _definitions(base), _definitions(new)
    changed = {name for name, code in after.items() if code != before.get(name)}
    # a method may share its name, and each script has a main()
    names = {name for name in before if defines(base, name) and name != "main"}
    code = {other: text for other, text in ours.items() if other.endswith(".py")}
    places = {}
    for other, text in code.items():
        defined = _definitions(text)
        least = min(SHARED_WITH_NEW if other in added else SHARED, len(names))
        if names and not is_test(other) and len(defined.keys() & names) >= least:
            places[other] = defined
    for other in {*code, *merged} if places else ():
        now = _definitions(merged.get(other) or "") if other.endswith(".py") else {}
        old = places.get(other, {})
        changed -= {name for name, code in now.items() if code != old.get(name)}
    if is_test(path) or not places or not changed:
        return ""
    rows = list(unified_diff(base.splitlines(), new.splitlines(), lineterm="", n=1))[2:]
    if len(rows) > SHOWN:
        rows[SHOWN:] = [f"... and {len(rows) - SHOWN} more lines"]
    where = " or ".join(sorted(places))
    advice = f"{path}: you deleted it. If its code is in {where} now, make this change there:"
    return "\n".join([advice, *(f"  {row}" for row in rows)])


def _definitions(text: str) -> dict[str, str]:
    """The code of functions, methods and classes by name. Nothing if it is not valid Python."""
    try:
        tree = parse(text)
    except SyntaxError:
        return {}
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return {node.name: ast.dump(node) for node in nodes_of(tree) if isinstance(node, kinds)}
