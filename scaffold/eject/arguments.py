"""What becomes of arguments: of a Trainer, by a table for each framework, and of a command line."""

import ast
import re
from collections.abc import Mapping
from typing import Any

from scaffold.check.source import last
from scaffold.eject.flow import root, words
from scaffold.eject.plan import PARSE, UNKNOWN, Plan, table

TYPES = {"int": int, "float": float, "str": str}
DIRECT = ("training.", "hardware.", "features.")  # an argument that is a setting of ours


def take(plan: Plan, name: str, given: Mapping[str, ast.expr]) -> dict[str, Any]:
    """The values of arguments that are known, with defaults. What can't be carried over is a TODO.

    Those that are settings of ours become answers.
    """
    rows = table(name)
    values = {word: row["default"] for word, row in rows.items() if "default" in row}
    for word, node in given.items():
        row, value, reason = rows.get(word, {}), plan.value(node), ""
        if not row:
            reason = "this argument is not known"
        elif "code" in row or value is None:
            continue
        elif "none" in row:
            plan.note(f"{word}: {row['none']}")
        elif "refused" in row:
            usual = [(type(one), one) for one in row["unless"]]  # 1.0 is not 1
            reason = "" if (type(value), value) in usual else row["refused"]
        elif value is UNKNOWN:
            reason = f"its value is not known here: {row['carried']}"
        elif str(value) not in row.get("values", [str(value)]):
            reason = f"what is carried over is {', '.join(row['values'])}"
        else:
            values[word] = row["values"][str(value)] if "values" in row else value
        if reason:
            plan.comments.append(plan.todo(node, reason, f"{word}={plan.script.code(node)}"))
    for word, value in values.items():
        if rows[word]["carried"].startswith(DIRECT):
            plan.answers[rows[word]["carried"]] = value
    return values


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
                    if last(above := plan.script.source.parents[id(node)]) == "vars":
                        own = ", ".join(f"{name}=config.{name}" for name in plan.fields)
                        plan.edits.replace(above, f"dict({own})")  # config has other settings, too
                    plan.edits.replace(node, "config")
        elif last(call) == "parse_args_into_dataclasses":
            raise plan.script.error(item.node, "HfArgumentParser is not read: write its values.")


def _read_argument(plan: Plan, call: ast.Call) -> None:
    """The field of Config for one argument of the command line."""
    given = words(call)
    flags = [flag for flag in map(plan.value, call.args) if isinstance(flag, str)]
    long = next((flag for flag in flags if flag.startswith("--")), flags[0] if flags else "")
    name = str(plan.value(given.get("dest")) or long.lstrip("-").replace("-", "_"))
    action, default = plan.value(given.get("action")), plan.value(given.get("default"))
    kind = ast.unparse(given["type"]) if "type" in given else ""
    if action in ("store_true", "store_false"):
        default = action == "store_false"
    elif default is UNKNOWN or isinstance(default, (list, dict)):
        default = None
        plan.end.append(plan.todo(call, "its default is not known here"))
    elif kind in TYPES and default is not None:
        default = TYPES[kind](default)
    empty = f"{kind if kind in TYPES else 'str'} | None"
    kind = empty if default is None else type(default).__name__
    text = plan.value(given.get("help"))
    comment = f"  # {' '.join(text.split())}" if isinstance(text, str) else ""
    ours = "epochs batch_size learning_rate weight_decay num_workers seed max_steps"
    if name in ours.split() and type(default) in (int, float):
        plan.answers[f"training.{name}"] = default
    plan.fields[name] = f"{name}: {kind} = {default!r}{comment}"
