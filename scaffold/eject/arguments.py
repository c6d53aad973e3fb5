"""What becomes of the arguments of a Trainer: a table for each framework, in a TOML file."""

import ast
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from scaffold.eject.plan import UNKNOWN, Plan

DIRECT = ("training.", "hardware.", "features.")  # an argument that is a setting of ours


@cache
def table(name: str) -> Mapping[str, Mapping[str, Any]]:
    text = (Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


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
