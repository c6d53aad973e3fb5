"""Classes of a script without their framework, and arguments of theirs that become settings."""

import ast
from collections.abc import Mapping
from typing import Any

from scaffold.eject.plan import UNKNOWN, Plan, words
from scaffold.eject.script import methods
from scaffold.eject.steps import Module, owner

HOOKLESS = "nothing calls this here"


def change_bases(plan: Plan, node: ast.ClassDef, end: str, new: str) -> None:
    """Write another base class, or none."""
    for base in node.bases:
        if plan.script.named(base).endswith(end):
            if new or len(node.bases) > 1:
                plan.edits.replace(base, new or "object")
            else:
                start, last = plan.edits.span(base)
                text = plan.script.text
                plan.edits.replace((text.rindex("(", 0, start), text.index(")", last) + 1), "")


def keep_hyperparameters(plan: Plan, node: ast.ClassDef) -> None:
    """self.save_hyperparameters() becomes a namespace of the arguments, or goes if none is read."""
    init = methods(node).get("__init__")
    if init is None:
        return
    used = any(
        isinstance(part, ast.Attribute) and part.attr == "hparams"
        for other in plan.script.bases(node)
        for part in ast.walk(other)
    )
    own = owner(init)
    for row in ast.walk(init):
        call = getattr(row, "value", None)
        if not (isinstance(row, ast.Expr) and isinstance(call, ast.Call)):
            continue
        if not (isinstance(call.func, ast.Attribute) and call.func.attr == "save_hyperparameters"):
            continue
        if not used:
            margin = plan.edits.span(row)[0] - row.col_offset
            alone = len(init.body) == 1
            plan.edits.replace(
                row if alone else (margin, plan.edits.span(row)[1] + 1), "pass" if alone else ""
            )
            continue
        given = words(call)
        ignored = plan.value(given["ignore"]) if "ignore" in given else []
        ignored = [ignored] if isinstance(ignored, str) else ignored
        names = [part.arg for part in (*init.args.args[1:], *init.args.kwonlyargs)]
        chosen = [plan.value(part) for part in call.args]
        if call.args and UNKNOWN in chosen:
            plan.edits.replace(row, f"{own}.hparams = {plan.script.code(call.args[0])}")
            continue
        names = [name for name in names if name in (chosen or names) and name not in ignored]
        parts = [f"{name}={name}" for name in names]
        parts += [f"**{init.args.kwarg.arg}"] if init.args.kwarg and not chosen else []
        plan.edits.replace(row, f"{own}.hparams = SimpleNamespace({', '.join(parts)})")


def drop_methods(
    plan: Plan, node: ast.ClassDef, moved: set[str], reasons: Mapping[str, str]
) -> None:
    """Take out the methods that moved to train.py; say above others why nothing calls them."""
    kept = [
        part for part in node.body if not (isinstance(part, ast.FunctionDef) and part.name in moved)
    ]
    for part in node.body:
        if not isinstance(part, ast.FunctionDef):
            continue
        first = min([part.lineno, *(d.lineno for d in part.decorator_list)])
        start, end = plan.edits.lines([part], first - 1)
        if part.name in moved:
            plan.edits.replace((start, end), "" if kept else f"{' ' * part.col_offset}pass\n")
        elif part.name in reasons:
            margin = " " * part.col_offset
            line = plan.script.rows[part.lineno - 1].strip()
            plan.edits.insert(
                start, margin + plan.todo(part, reasons[part.name], line).split("\n")[0] + "\n"
            )


def add_method(plan: Plan, node: ast.ClassDef, text: str) -> None:
    plan.edits.insert(plan.edits.lines(node.body, node.lineno)[1], f"\n{text}\n")


def settle(
    plan: Plan, call: ast.Call | None, node: ast.ClassDef | None, name: str, key: str
) -> str:
    """Let an argument of a class come from a setting: what to add to its call, or "".

    The answer becomes what the call or the default says. Without a call, one without arguments is
    meant. Returns "none" if the value is not known.
    """
    short = key.rpartition(".")[2]
    given: dict[str, ast.expr] = {}
    defaults: dict[str, Any] = {}
    init = methods(node).get("__init__") if node else None
    if init is not None:
        places = init.args.args[1:]
        values = dict(
            zip(
                [p.arg for p in places[len(places) - len(init.args.defaults) :]],
                init.args.defaults,
                strict=True,
            )
        )
        defaults = {word: plan.value(value) for word, value in values.items()}
        if call is not None:
            given = words(call, [part.arg for part in places])
    if name in given:
        value = plan.value(given[name])
        if isinstance(value, (int, float)) and not isinstance(given[name], ast.Attribute):
            plan.answers[key] = value
            plan.edits.replace(given[name], f"config.{short}")
            return ""
        return "none"
    if isinstance(defaults.get(name), (int, float)):
        plan.answers[key] = defaults[name]
        added = f"{name}=config.{short}"
        if call is not None:
            plan.edits.add_argument(call, added)
        return added
    return "none"


def settle_literal(plan: Plan, node: ast.expr | None, key: str) -> bool:
    """Let a number in the script come from a setting."""
    if node is None or isinstance(node, ast.Attribute):
        return False
    value = plan.value(node)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    plan.answers[key] = value
    plan.edits.replace(node, f"config.{key.rpartition('.')[2]}")
    return True


def change_module(module: Module, moved: set[str], reasons: Mapping[str, str]) -> None:
    """A LightningModule becomes an nn.Module: what the loop does is gone from it."""
    plan = module.plan
    for node in plan.script.bases(module.node):
        change_bases(plan, node, "LightningModule", "nn.Module")
        keep_hyperparameters(plan, node)
        drop_methods(plan, node, moved, reasons)
        for name, function in methods(node).items():
            if name in moved:
                continue
            own = owner(function)
            for attribute in module.attributes(function):
                if attribute.attr == "device":
                    plan.edits.replace(attribute, f"next({own}.parameters()).device")
                elif (
                    attribute.attr
                    in (
                        "trainer",
                        "logger",
                        "log",
                        "log_dict",
                        "current_epoch",
                        "global_step",
                    )
                    and name not in reasons
                ):
                    module.refuse(attribute, "this is not known in the model")
    if module.called:
        text = "    def forward(self, *args, **kwargs):\n"
        add_method(plan, module.node, f"{text}        return self.{module.called}(*args, **kwargs)")
