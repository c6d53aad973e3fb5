"""The schedule's length is not the number of its steps, so it ends early, or never.

A prepared scheduler steps once per process and update. It needs a length counted before `prepare`,
when loaders still have all batches, or one multiplied by the processes. A length in epochs is for
a scheduler that steps once per epoch.
"""

from scaffold.check.loops import Found, Source, ast, is_schedule, last, loader_of, named, steps_of

MEND = "Count the updates, after prepare(), and don't prepare the scheduler."
WRONG = """
accelerator = Accelerator()
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
scheduler = get_linear_schedule_with_warmup(optimizer, 0, len(loader) * epochs)
scheduler = accelerator.prepare(scheduler)
"""
RIGHT = WRONG.replace("scheduler = accelerator.prepare(scheduler)\n", "")


def find(source: Source) -> Found:
    prepares = source.calls("prepare") if "Accelerator" in source.called else []
    for maker, _ in source.facts.calls if prepares else ():
        above = source.parents[id(maker)]
        target = above.targets[0] if isinstance(above, ast.Assign) else above
        is_made = above in prepares or (isinstance(above, ast.Assign) and maker not in prepares)
        near = [call for call in prepares if source.home(call) is source.home(maker)]
        given = {last(value): call.lineno for call in near for value in call.args}
        lines = [line for name, line in given.items() if name in _counted(source, maker)]
        prepared = last(target) in given or above in prepares
        known = not lines or "num_processes" in ast.unparse(maker) or not is_schedule(source, maker)
        if is_made and not known and prepared is (min(lines) < maker.lineno):
            yield maker
    for step in steps_of(source):
        batches = isinstance(step.node, ast.For) and loader_of(source, step.node.iter)
        for call in step.calls("step") if batches else ():
            made = source.latest(getattr(call.func, "value", call))[-1]
            if isinstance(made, ast.Call) and is_schedule(source, made):
                parts = [*made.args[1:], *(found.value for found in made.keywords)]
                counts = any(text in ast.unparse(made) for text in ("len(", "per_epoch"))
                if not counts and any(named(part, "epochs") for part in parts):
                    yield call


def _counted(source: Source, call: ast.Call) -> set[str]:
    """The loaders whose length is in the arguments, also by way of one variable."""
    names = [part for part in ast.walk(call) if isinstance(part, ast.Name)]
    values = [call, *(value for name in names for value in source.latest(name))]
    nodes = [part for value in values for part in ast.walk(value) if isinstance(part, ast.Call)]
    calls = [node for node in nodes if last(node) == "len" and node.args]
    return {last(found) for n in calls if (found := loader_of(source, n.args[0])) is not None}
