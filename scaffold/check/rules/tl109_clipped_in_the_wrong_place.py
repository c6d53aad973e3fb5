"""Gradients are clipped where it has no effect, or the wrong one.

After `step` nothing is clipped; before `backward` it is the gradients of another batch; before
`unscale_` they are still multiplied by the scale of fp16; at each micro-batch, partial sums.
"""

from scaffold.check.loops import Found, Source, Step, ast, is_update, last, steps_of

MEND = "Clip once per update: after the last backward() (and unscale_()), before step()."
WRONG = """
for inputs, labels in loader:
    loss_function(model(inputs), labels).backward()
    optimizer.step()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.zero_grad()
"""
CLIPS = ("clip_grad_norm_", "clip_grad_value_")
STEP = "    optimizer.step()\n"
RIGHT = WRONG.replace(STEP, "").replace("    optimizer.zero", f"{STEP}    optimizer.zero")


def find(source: Source) -> Found:
    for step in steps_of(source):
        yield from (c for c in step.calls(*CLIPS) if _misplaced(step, c))


def _misplaced(step: Step, clip: ast.Call) -> bool:
    test = step.condition(clip)
    if not step.updates:  # those come after a window
        nodes = step.source.within(step.source.home(step.node))
        later = any(isinstance(n, ast.Call) and is_update(step.source, n) for n in nodes)
        return step.loops and later and test is None
    calls = sorted([*step.backwards, *step.updates], key=lambda call: call.lineno)
    above = [call for call in calls if call.lineno < clip.lineno]
    if not above or last(above[-1].func) != "backward":
        return True
    if ".scale(" in ast.unparse(above[-1]) and "unscale_" not in step.source.called:
        return True
    if step.accumulates(clip):
        return test is None or "sync_gradients" not in ast.unparse(test)
    return test is None and bool(step.windows)
