"""Gradients are never cleared, so each update adds those of all batches before it."""

from scaffold.check.loops import Found, Source, ast, is_update, steps_of

MEND = "Call optimizer.zero_grad() after each optimizer.step()."
WRONG = """
for inputs, labels in loader:
    loss = loss_function(model(inputs), labels)
    loss.backward()
    optimizer.step()
"""
RIGHT = WRONG + "    optimizer.zero_grad()\n"


def find(source: Source) -> Found:
    stored = (node.attr for node, _ in source.facts.attributes if isinstance(node.ctx, ast.Store))
    if "grad" not in stored and not source.called.keys() & {"zero_grad", "zero_grads", "zero_"}:
        for step in steps_of(source):
            nodes = [n for n in source.within(source.home(step.node)) if isinstance(n, ast.Call)]
            below = [n for n in nodes if n.lineno > step.backwards[0].lineno]
            yield from (step.updates or [n for n in below if is_update(source, n)])[:1]
