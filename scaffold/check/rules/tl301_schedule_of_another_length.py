"""The schedule's length is not the number of its steps, so it ends early, or never.

A prepared scheduler steps once per process and update. It needs a length counted before `prepare`,
when loaders still have all batches, or one multiplied by the processes. A length in epochs is for
a scheduler that steps once per epoch; one in updates, for a scheduler that steps at each.
"""

import ast

from scaffold.check.loops import Found, Step, counted, is_schedule, length_of, loader_of, steps_of
from scaffold.check.source import Source, last, named

MEND = "Count its steps (updates, or epochs) after prepare(), and don't prepare the scheduler."
WRONG = """
accelerator = Accelerator()
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
scheduler = get_linear_schedule_with_warmup(optimizer, 0, len(loader) * epochs)
scheduler = accelerator.prepare(scheduler)
"""
RIGHT = WRONG.replace("scheduler = accelerator.prepare(scheduler)\n", "")
STEPS = r"(?:total|train|training)_steps"


def find(source: Source) -> Found:
    prepares = source.calls("prepare") if "Accelerator" in source.called else []
    for maker, _ in source.facts.calls if prepares else ():
        above = source.parents[id(maker)]
        target = above.targets[0] if isinstance(above, ast.Assign) else above
        is_made = above in prepares or (isinstance(above, ast.Assign) and maker not in prepares)
        near = [call for call in prepares if source.home(call) is source.home(maker)]
        given = {last(value): call.lineno for call in near for value in call.args}
        lines = [line for name, line in given.items() if name in counted(source, maker)]
        prepared = last(target) in given or above in prepares
        known = not lines or "num_processes" in ast.unparse(maker) or not is_schedule(source, maker)
        if is_made and not known and prepared is (min(lines) < maker.lineno):
            yield maker
    for step in steps_of(source):
        batches = isinstance(step.node, ast.For) and loader_of(source, step.node.iter)
        for call in source.calls("step") if batches or step.epochs else ():
            made = source.latest(getattr(call.func, "value", call))[-1]
            if isinstance(made, ast.Call) and is_schedule(source, made):
                length = length_of(source, made)
                each = call in step.calls("step") and _of_epochs(source, made, step)
                sums = isinstance(length, ast.BinOp) and counted(source, length)
                if each or (step.ends_epoch(call) and (sums or named(length, STEPS))):
                    yield call


def _of_epochs(source: Source, made: ast.Call, step: Step) -> bool:
    """Whether the length is the number of epochs, or that of the batches of one."""
    parts = [*made.args[1:], *(found.value for found in made.keywords)]
    if any(named(part, "epochs") for part in parts):
        return not any(text in ast.unparse(made) for text in ("len(", "per_epoch"))
    length = length_of(source, made)
    if length is None or step.epochs is None or made.lineno > step.epochs.lineno:
        return False
    parts = [part for part in ast.walk(step.epochs.iter) if isinstance(part, ast.expr)]
    rounds = [ast.unparse(value) for part in parts for value in source.latest(part)]
    one = last(length) == "len" and bool(counted(source, length))
    return one or ast.unparse(length) in rounds
