"""The schedule is as long as the run on one process, so on several it ends early or never.

A prepared scheduler steps once per process and update. It needs a length counted before `prepare`,
when loaders still have all batches, or one multiplied by the processes.
"""

from scaffold.check.loops import Found, Source, ast, is_schedule, last, loader_of

MEND = "Count the updates after prepare(), and don't prepare the scheduler."
WRONG = """
accelerator = Accelerator()
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
scheduler = get_linear_schedule_with_warmup(optimizer, 0, len(loader) * epochs)
scheduler = accelerator.prepare(scheduler)
"""
RIGHT = WRONG.replace("scheduler = accelerator.prepare(scheduler)\n", "")


def find(source: Source) -> Found:
    prepares = source.calls("prepare") if "Accelerator" in source.called else []
    for made, _ in source.facts.calls if prepares else ():
        above = source.parents[id(made)]
        target = above.targets[0] if isinstance(above, ast.Assign) else above
        if above not in prepares and not (isinstance(above, ast.Assign) and made not in prepares):
            continue
        near = [call for call in prepares if source.home(call) is source.home(made)]
        given = {last(value): call.lineno for call in near for value in call.args}
        lines = [line for name, line in given.items() if name in _counted(source, made)]
        prepared = last(target) in given or above in prepares
        if is_schedule(source, made) and lines and prepared is (min(lines) < made.lineno):
            yield from [made] * ("num_processes" not in ast.unparse(made))


def _counted(source: Source, call: ast.Call) -> set[str]:
    """The loaders whose length is in the arguments, also by way of one variable."""
    names = [part for part in ast.walk(call) if isinstance(part, ast.Name)]
    values = [call, *(value for name in names for value in source.latest(name))]
    nodes = [part for value in values for part in ast.walk(value) if isinstance(part, ast.Call)]
    calls = [node for node in nodes if last(node) == "len" and node.args]
    return {last(found) for n in calls if (found := loader_of(source, n.args[0])) is not None}
