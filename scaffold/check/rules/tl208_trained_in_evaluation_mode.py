"""Training goes on in evaluation mode: dropout stays off, batch norm learns nothing."""

from scaffold.check.loops import LOOPS, Found, Source, around, ast, last, steps_of

MEND = "Call model.train() after the evaluation, or before the batches of each epoch."
WRONG = """
for epoch in range(3):
    for inputs, labels in loader:
        loss_function(model(inputs), labels).backward()
        optimizer.step()
        optimizer.zero_grad()
    model.eval()
"""
RIGHT = WRONG.replace("3):\n", "3):\n    model.train()\n")


def find(source: Source) -> Found:
    for step in steps_of(source):
        trained = {last(n.func) for n in source.within(step.node) if isinstance(n, ast.Call)}
        places = [n for part in around(source, step.node) for n in (part, *source.above(part))]
        for loop in dict.fromkeys(node for node in places if isinstance(node, LOOPS)):
            nodes = _reached(source, loop)
            if not any(getattr(node, "attr", "") in ("train", "training") for node in nodes):
                calls = [node.value for node in nodes if isinstance(node, ast.Expr)]
                evals = [c.func for c in calls if isinstance(c, ast.Call) and last(c) == "eval"]
                yield from (f for f in evals if last(getattr(f, "value", f)) in trained)


def _reached(source: Source, loop: ast.AST) -> list[ast.AST]:
    """What stands in a loop, and in the functions of this file that it calls."""
    found = list(source.within(loop))
    for call in (node for node in found if isinstance(node, ast.Call)):
        function, _ = source.project.called(call, source.scope(call))
        if function is not None and function.body[0] not in found:
            found += source.within(function)
    return found
