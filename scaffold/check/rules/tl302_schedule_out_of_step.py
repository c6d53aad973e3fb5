"""The schedule does not move with the updates: it steps before them, or when there are none."""

from scaffold.check.loops import Found, Source, ast, is_schedule, last, steps_of

MEND = "Call scheduler.step() once per update, right after optimizer.step()."
WRONG = """
for step, batch in enumerate(loader):
    loss = model(batch).loss / 4
    loss.backward()
    if (step + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
    scheduler.step()
"""
RIGHT = WRONG.replace("    scheduler", "        scheduler")


def find(source: Source) -> Found:
    for step in steps_of(source):
        for call in step.calls("step") if step.loops and step.updates else ():
            owner = call.func.value if isinstance(call.func, ast.Attribute) else call.func
            if is_schedule(source, owner) and step.condition(call) is None:
                early = len(step.updates) == 1 and call.lineno < step.updates[0].lineno
                if early or (step.windows and not step.accumulates(call)):
                    yield call
    for made in source.calls("OneCycleLR"):  # which counts updates
        inside = {id(node) for step in steps_of(source) for node in source.within(step.node)}
        names = [last(target) for target in getattr(source.parents[id(made)], "targets", [])]
        calls = [c for c in source.calls("step") if last(getattr(c.func, "value", c)) in names]
        if steps_of(source) and not any(id(call) in inside for call in calls):
            yield from calls
