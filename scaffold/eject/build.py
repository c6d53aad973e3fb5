"""The files of an ejected project, in memory."""

import ast
from collections.abc import Mapping
from pathlib import Path

from scaffold.answers.catalog import Catalog
from scaffold.answers.check import check, find_option
from scaffold.answers.resolve import Answers, resolve
from scaffold.eject import accelerated, lightning, transformers
from scaffold.eject.arguments import take_settings
from scaffold.eject.flow import items_before
from scaffold.eject.names import mark_undefined
from scaffold.eject.plan import Plan, Todo
from scaffold.eject.reader import trainings
from scaffold.eject.script import Script
from scaffold.eject.write import fill
from scaffold.errors import AnswerError, ScaffoldError
from scaffold.render.format import Remember
from scaffold.render.project import render_project

OFF = ("schedule", "predict", "clipping")  # unless the script says so: its own lines do it


def build(
    catalog: Catalog, script: Path, name: str, remember: Remember
) -> tuple[Plan, Answers, Mapping[str, str], Mapping[str, str]]:
    """What was found in a script, the answers, the rendered files, and those with its code.

    Raises ScaffoldError for a script that can't be carried over.
    """
    plan = read_plan(script)
    answers = complete(catalog, plan, name)
    rendered = render_project(catalog, answers, remember)
    try:
        files = fill(plan, rendered)
        for name, text in files.items():
            if name.endswith(".py"):
                ast.parse(text, name)
        mark_undefined(plan, files)
    except SyntaxError as error:
        raise ScaffoldError(
            f"{script}: something in it can't be carried over: the project would hold "
            f"{(error.text or '').strip()!r}, which is not valid Python. Nothing is written."
        ) from None
    return plan, answers, rendered, files


def read_plan(path: Path) -> Plan:
    """Raises ScaffoldError for a script that can't be carried over."""
    if path.suffix not in (".py", ".ipynb") or not path.is_file():
        raise ScaffoldError(f"{path}: no Python file (.py) or notebook (.ipynb).")
    script = Script(path.resolve())
    for reader in (lightning, transformers, accelerated):
        if trainers := script.calls_of(reader.TRAINER):
            calls = trainings(script, trainers, reader.Run.start_word)
            trainer = next((one for _, one in calls), trainers[0])
            script.define(*(p for p in script.tree.body if p.lineno < trainer.lineno))  # not later
            plan = Plan(script, reader.FRAMEWORK, items_before(script, trainer))
            take_settings(plan)
            reader.Run(plan, trainer, calls).read()
            return plan
    raise ScaffoldError(f"{path} has no Trainer of Lightning, Transformers or pytorch-accelerated.")


def complete(catalog: Catalog, plan: Plan, name: str) -> Answers:
    """All answers. A value that a setting does not allow becomes a TODO."""
    given: Answers = {"project.task": "own"}
    given |= {f"features.{name}.enabled": False for name in OFF}
    named = "".join(letter if letter.isalnum() else "-" for letter in name).strip("-") or "ejected"
    for key, value in {"project.name": named, **plan.answers}.items():
        try:
            option = find_option(catalog, key)
            kind = type(option.default)
            given[key] = check(option, kind(value) if type(value) in (int, float) else value)
        except AnswerError as error:
            plan.todos.append(Todo(plan.script.path.name, f"{key} = {value!r}", str(error)))
    return resolve(catalog, given)


def report(plan: Plan) -> list[str]:
    """What was carried over as answers, what has no effect, and what is left to do."""
    rows = [f"From {plan.script.path.name} ({plan.framework}), as answers:"]
    rows += [f"  {key} = {value!r}" for key, value in sorted(plan.answers.items())]
    if plan.notes:
        rows += ["", "Without effect here, or done another way:", *(f"  {n}" for n in plan.notes)]
    if plan.todos:
        rows += ["", f"{len(plan.todos)} TODO(s), each in the project where it belongs:"]
        for todo in plan.todos:
            rows += [f"  {todo.place}: {todo.reason}", f"    {todo.line}"]
    return rows
