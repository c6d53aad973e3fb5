"""Gradients are cleared at each micro-batch, so only the last of a window counts.

In `with accelerator.accumulate(model)`, `zero_grad` does nothing until the last micro-batch of a
window; there, at the start of the block, it deletes what the others have accumulated.
"""

from scaffold.check.loops import Found, Source, steps_of

MEND = "Call zero_grad() right after step(), under the same condition."
WRONG = """
for batch in loader:
    with accelerator.accumulate(model):
        optimizer.zero_grad()
        accelerator.backward(model(batch).loss)
        optimizer.step()
"""
RIGHT = WRONG.replace("        optimizer.zero_grad()\n", "") + "        optimizer.zero_grad()\n"


def find(source: Source) -> Found:
    for step in steps_of(source):
        for clear in step.calls("zero_grad") if step.loops and step.updates else ():
            first = step.backwards[0]
            waits = step.windows and not any(map(step.accumulates, step.updates))
            if step.accumulates(clear):
                waits = step.accumulates(first) and clear.lineno < first.lineno
            if waits and step.condition(clear) is None:
                yield clear
