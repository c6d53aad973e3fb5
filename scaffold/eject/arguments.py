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
def table(framework: str) -> Mapping[str, Mapping[str, Any]]:
    text = (Path(__file__).parent / f"{framework}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def take(plan: Plan, framework: str, given: Mapping[str, ast.expr], done: set[str]) -> list[str]:
    """Answer what the arguments say, but those in `done`. Returns comments for what can't be."""
    comments = []
    for name, node in given.items():
        row, value = table(framework).get(name), plan.value(node)
        if name in done or value is None:
            continue
        line = f"{name}={plan.script.code(node)}"
        if row is None:
            comments.append(plan.todo(node, "this argument is not known", line))
        elif "none" in row:
            plan.note(f"{name}: {row['none']}")
        elif "refused" in row:
            if value is UNKNOWN or value not in row["unless"]:
                comments.append(plan.todo(node, str(row["refused"]), line))
        elif value is UNKNOWN:
            comments.append(plan.todo(node, f"its value is not known here: {row['carried']}", line))
        elif row["carried"].startswith(DIRECT):
            plan.answers[row["carried"]] = value
    return comments
