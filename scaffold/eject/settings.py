"""Settings of a script's command line, which become fields of Config."""

import ast
import re

from scaffold.check.source import last
from scaffold.eject.flow import root, words
from scaffold.eject.plan import PARSE, UNKNOWN, Plan

OURS = "epochs batch_size learning_rate weight_decay num_workers seed max_steps"  # as in Config
TYPES = {"int": int, "float": float, "str": str}


def take_settings(plan: Plan) -> None:
    """Turn `parser.add_argument(...)` into fields, and `args.x` into `config.x`."""
    for item in plan.items:
        call = getattr(item.node, "value", None)
        if last(call) in PARSE and isinstance(call, ast.Call):
            plan.dropped |= {item, *(i for i in plan.items if i.touched & {root(call.func)})}
            for argument in plan.script.source.calls("add_argument"):
                _read_argument(plan, argument)
            found = re.search(r"\w+", ast.unparse(item.node))
            for node in plan.script.source.all(ast.Name):
                is_parsed = isinstance(node, ast.Name) and found and node.id == found[0]
                if is_parsed and id(plan.script.source.home(node)) in plan.homes:
                    plan.edits.replace(node, "config")
        elif last(call) == "parse_args_into_dataclasses":
            raise plan.script.error(item.node, "HfArgumentParser is not read: write its values.")


def _read_argument(plan: Plan, call: ast.Call) -> None:
    """The field of Config for one argument of the command line."""
    given = words(call)
    flags = [flag for flag in map(plan.value, call.args) if isinstance(flag, str)]
    long = next((flag for flag in flags if flag.startswith("--")), flags[0] if flags else "")
    name = str(plan.value(given.get("dest")) or long.lstrip("-").replace("-", "_"))
    if not name.isidentifier():
        return
    action, default = plan.value(given.get("action")), plan.value(given.get("default"))
    kind = ast.unparse(given["type"]) if "type" in given else ""
    if action in ("store_true", "store_false"):
        default = action == "store_false"
    elif default is UNKNOWN or isinstance(default, (list, dict)):
        default = None
        plan.end.append(plan.todo(call, "its default is not known here"))
    elif kind in TYPES and default is not None:
        default = TYPES[kind](default)
    if default is not None:
        kind = type(default).__name__
    else:
        kind = f"{kind if kind in TYPES else 'str'} | None"
    text = plan.value(given.get("help"))
    comment = f"  # {' '.join(text.split())}" if isinstance(text, str) else ""
    if name in OURS.split() and type(default) in (int, float):
        plan.answers[f"training.{name}"] = default
    plan.fields[name] = f"{name}: {kind} = {default!r}{comment}"
