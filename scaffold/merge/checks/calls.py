"""Calls that do not fit what they call, where that is written in the project."""

import ast
from collections import Counter
from collections.abc import Collection, Iterator

from scaffold.merge.semantics.infer import Project, is_plain, positional, values_returned
from scaffold.merge.semantics.scopes import Facts, Function, Scope
from scaffold.merge.semantics.types import Class, Object, Outside


def wrong_calls(project: Project, facts: Facts) -> Iterator[tuple[int, str]]:
    """The line of each, and what is wrong."""
    for call, scope in facts.calls:
        kind = project.kind(call.func, scope)
        name = ast.unparse(call.func)
        given = Counter(_keywords(project, call, scope))
        for keyword, times in given.items():
            if times > 1:
                yield call.lineno, f"{name}(...) gets {keyword} twice"
        if isinstance(kind, Outside):
            if kind.name == "dataclasses.replace" and call.args:
                changed = project.kind(call.args[0], scope)
                if isinstance(changed, Object):
                    yield from _fields(project, changed.of, call, given, "replace")
            continue
        if isinstance(kind, Class) and "__init__" not in project.members(kind).bindings:
            yield from _fields(project, kind, call, given, name)
            continue
        function, skipped = project.called(call, scope)
        if function is not None and is_plain(function):
            yield from (
                (call.lineno, text) for text in _misfits(function, skipped, call, given, name)
            )


def _keywords(project: Project, call: ast.Call, scope: Scope) -> Iterator[str]:
    """The names of the arguments, also of those in a dict: `Config(**settings)`, `f(**more())`."""
    for keyword in call.keywords:
        if keyword.arg:
            yield keyword.arg
            continue
        value: object = keyword.value
        if isinstance(value, ast.Name):
            held = scope.names.get(value.id) or (scope.parent and scope.parent.names.get(value.id))
            value = held[0] if held and len(held) == 1 else None
        elif isinstance(value, ast.Call):
            function, _ = project.called(value, scope)
            returned = values_returned(function) if function else ()
            value = returned[0] if len(returned) == 1 else None
        for key in value.keys if isinstance(value, ast.Dict) else ():
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value


def _fields(
    project: Project, kind: Class, call: ast.Call, given: Collection[str], name: str
) -> Iterator[tuple[int, str]]:
    members = project.members(kind)
    if members.is_dataclass and not members.is_open:
        for keyword in given:
            if keyword not in members.fields:
                yield call.lineno, f"{name}({keyword}=...): {kind.name} has no field {keyword}"


def _misfits(
    function: Function, skipped: int, call: ast.Call, given: Collection[str], name: str
) -> Iterator[str]:
    arguments = function.args
    places = positional(function)[skipped:]
    names = {argument.arg for argument in (*arguments.args, *arguments.kwonlyargs)}
    if not arguments.kwarg:
        for keyword in given:
            if keyword not in names:
                yield f"{name}({keyword}=...): {name} has no argument {keyword}"
    if any(isinstance(value, ast.Starred) for value in call.args):
        return
    for argument in places[: len(call.args)]:
        if argument.arg in given and argument in arguments.args:
            yield f"{name}(...) gets {argument.arg} twice"
    if len(call.args) > len(places) and not arguments.vararg:
        yield f"{name}(...) gets {len(call.args)} positional arguments, but accepts {len(places)}"
    if any(keyword.arg is None for keyword in call.keywords):
        return
    needed = [argument.arg for argument in places[: len(places) - len(arguments.defaults)]]
    needed = needed[len(call.args) :]
    needed += [
        argument.arg
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default is None
    ]
    for missing in needed:
        if missing not in given:
            yield f"{name}(...) is missing {missing}"
