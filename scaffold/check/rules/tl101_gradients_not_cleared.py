"""Gradients are never cleared, so each update adds those of all batches before it."""

from scaffold.check.loops import Found, Source, ast, is_given, is_update, steps_of

MEND = "Call optimizer.zero_grad() after each optimizer.step()."
WRONG = """
for inputs, labels in loader:
    loss = loss_function(model(inputs), labels)
    loss.backward()
    optimizer.step()
"""
RIGHT = WRONG + "    optimizer.zero_grad()\n"


def find(source: Source) -> Found:
    """Also of one of several optimizers, if each clear is of an optimizer that steps."""
    stored = (node.attr for node, _ in source.facts.attributes if isinstance(node.ctx, ast.Store))
    if "grad" not in stored and not source.called.keys() & {"zero_grads", "zero_"}:
        updates: dict[str, ast.Call] = {}
        for step in steps_of(source):
            nodes = [n for n in source.within(source.home(step.node)) if isinstance(n, ast.Call)]
            below = [n for n in nodes if n.lineno > step.backwards[0].lineno]
            for call in step.updates or [n for n in below if is_update(source, n)]:
                owner = [*call.args, getattr(call.func, "value", call)][0]
                if not is_given(source, owner):
                    updates.setdefault(ast.unparse(owner), call)
        clears = {ast.unparse(getattr(c.func, "value", c)) for c in source.calls("zero_grad")}
        if clears <= updates.keys():
            yield from (call for name, call in updates.items() if name not in clears)
