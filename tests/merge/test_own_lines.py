"""An own line at any place of train.py needs no question when the minimal loop becomes complete.

As an update does it, with no feature yet.
"""

import ast
from collections.abc import Callable, Iterator

import pytest

from scaffold.answers.manifests import load_catalog
from scaffold.merge.merge import merge_files
from scaffold.project.pristine import Pristine
from support.combinations import given_for
from support.rendering import render

TASKS = ["image_classification", "language_model", "object_detection", "token_classification"]
OWN = "counts.append(1)"


def with_own_lines(text: str) -> Iterator[str]:
    """The text with an own line below each statement of a function, at each of its depths."""
    rows = text.splitlines()
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    first = functions[0].lineno - 1
    ends = {
        (node.end_lineno or 0, node.col_offset)
        for function in functions
        for node in ast.walk(function)
        if isinstance(node, ast.stmt) and node is not function
        if not isinstance(node, ast.Return | ast.Raise | ast.Break | ast.Continue)
    }
    for end, column in sorted(ends):
        line = " " * column + OWN
        changed = [*rows[:first], "counts = []", "", "", *rows[first:end], line, *rows[end:]]
        yield "\n".join(changed) + "\n"


@pytest.mark.sweep
@pytest.mark.parametrize("task", TASKS)
def test_an_own_line_needs_no_question(task: str, proven: Callable[[str, int], None]) -> None:
    base = dict(render({"project.task": task, "project.loop": "minimal"}))
    features = given_for(load_catalog(), [])
    theirs = dict(render({"project.task": task, "project.loop": "complete", **features}))
    places = 0
    for text in with_own_lines(base["train.py"]):
        ours = {**base, "train.py": text}
        merged = merge_files(Pristine("", {}, base), ours, theirs, "the update")
        asked = merged.conflicts or merged.warnings
        assert not asked, text.partition(OWN)[0][-200:] + str(asked)
        assert (merged.files["train.py"] or "").count(OWN) == 1
        places += 1
    assert places > 30
    proven("places for an own line", places)
