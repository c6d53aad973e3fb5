"""Updates of code that its owner moved: the changes, and what must come out."""

import re
from collections.abc import Mapping

from corpus.edit import Apply, Files
from corpus.judge import canonical_of
from scaffold.answers.catalog import Value
from scaffold.merge.merge import Merged, merge_files
from scaffold.project.pristine import Pristine
from support.rendering import render_with_best as render

Answers = Mapping[str, Value]
OWN = "forward|take_step|validate|build|end_epoch"  # functions of the owner
EMA = {"features.ema.enabled": True}
NO_BEST = {"features.best_model.enabled": False}
NO_SCHEDULE = {"features.schedule.enabled": False}
NO_CHECKPOINTS = {"features.checkpoints.enabled": False}
MIXING = {"features.mixing.enabled": True}
STEPS = {"features.evaluation_by_steps.enabled": True}
WINDOW = {"training.gradient_accumulation_steps": 4}


def update(edit: Apply, change: Answers) -> tuple[Merged, Files]:
    """What comes of an update, and all files after it."""
    base, theirs = dict(render({})), dict(render(change))
    mine = dict(base)
    edit(mine)
    assert mine != base, "this is no edit"
    merged = merge_files(Pristine("", {}, base), mine, theirs, "the update")
    files = {**mine, **merged.files}
    return merged, {path: text for path, text in files.items() if text is not None}


def differing(files: Files, expected: Files) -> list[str]:
    """The files that differ, apart from the order of the arguments of the owner's functions."""
    one, two = (
        {path: re.sub(rf"\b({OWN})\([^)]*\)", r"\1()", text) for path, text in side.items()}
        for side in (files, expected)
    )
    return sorted(
        path
        for path in one.keys() | two.keys()
        if canonical_of(path, one.get(path)) != canonical_of(path, two.get(path))
    )


def check_same(edit: Apply, change: Answers) -> Files:
    """The files after an update that is the same edit of the new render."""
    merged, files = update(edit, change)
    assert not merged.conflicts and not merged.warnings
    expected = dict(render(change))
    edit(expected)
    assert differing(files, expected) == []
    return files


def check_asks(edit: Apply, change: Answers) -> None:
    merged, _ = update(edit, change)
    assert merged.conflicts or merged.warnings, "nothing is asked"
