"""Settings of a script's command line, which become fields of Config."""

import ast
from typing import Any

from scaffold.eject.flow import root
from scaffold.eject.plan import UNKNOWN, Plan, words

OURS = {  # settings that mean the same in our Config
    "epochs": "training.epochs",
    "batch_size": "training.batch_size",
    "learning_rate": "training.learning_rate",
    "weight_decay": "training.weight_decay",
    "num_workers": "training.num_workers",
    "seed": "training.seed",
    "max_steps": "training.max_steps",
}
TYPES = {"int": int, "float": float, "str": str}


def take_settings(plan: Plan) -> None:
    """Turn `parser.add_argument(...)` into fields, and `args.x` into `config.x`.

    Raises ScaffoldError for other command lines.
    """
    for item in plan.items:
        call = getattr(item.node, "value", None)
        name = (
            call.func.attr
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
            else ""
        )
        if name in ("parse_args", "parse_known_args"):
            names = sorted(item.bound)[:1]
            parsers = {root(call.func)}  # type: ignore[union-attr]
            plan.dropped |= {other for other in plan.items if other.touched & parsers}
            plan.dropped.add(item)
            _read_arguments(plan)
            _rename(plan, names)
        elif name == "parse_args_into_dataclasses":
            raise plan.script.error(item.node, "HfArgumentParser is not read: write its values.")


def _read_arguments(plan: Plan) -> None:
    for call in plan.script.source.calls("add_argument"):
        flags = [plan.value(node) for node in call.args]
        flags = [flag for flag in flags if isinstance(flag, str)]
        given = words(call)
        name = plan.value(given["dest"]) if "dest" in given else None
        long = next((flag for flag in flags if flag.startswith("--")), flags[0] if flags else "")
        name = name if isinstance(name, str) else long.lstrip("-").replace("-", "_")
        if not name.isidentifier():
            continue
        action, default = plan.value(given.get("action")), plan.value(given.get("default"))
        kind = ast.unparse(given["type"]) if "type" in given else ""
        if action in ("store_true", "store_false"):
            default, kind = action == "store_false", "bool"
        if "default" not in given and action not in ("store_true", "store_false"):
            default = None
        if kind in TYPES and isinstance(default, (int, float, str)):
            default = TYPES[kind](default)
        plan.fields[name] = _field(plan, call, name, kind, default)


def _field(plan: Plan, call: ast.Call, name: str, kind: str, default: Any) -> str:
    """The line of Config."""
    if default is UNKNOWN or isinstance(default, (list, dict)):
        default = None
        plan.todo(call, "its default is not known here")
    kind = kind if kind in ("int", "float", "str", "bool") else type(default).__name__
    if default is None:
        kind = f"{kind} | None" if kind != "NoneType" else "str | None"
    elif kind != type(default).__name__:
        kind = type(default).__name__
    text = plan.value(words(call).get("help"))
    comment = f"  # {' '.join(text.split())}" if isinstance(text, str) else ""
    if name in OURS and isinstance(default, (int, float)):
        plan.answers[OURS[name]] = default
    return f"{name}: {kind} = {default!r}{comment}"


def _rename(plan: Plan, names: list[str]) -> None:
    """Write `config` for the parsed arguments, where it is not a parameter of another function."""
    if not names:
        return
    homes = {id(plan.script.source.home(item.node)) for item in plan.items}
    for node in plan.script.source.all(ast.Name):
        own = isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Load)
        if own and id(plan.script.source.home(node)) in homes:
            plan.edits.replace(node, "config")
