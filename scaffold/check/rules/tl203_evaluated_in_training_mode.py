"""The model is evaluated in training mode: dropout stays on, batch norm learns from the data."""

from scaffold.check.loops import FUNCTIONS, Found, Source, around, ast, evaluations, last, steps_of

MEND = "Call model.eval() before the loop, and model.train() after it."
WRONG = """
loss.backward()
with torch.no_grad():
    for inputs, labels in eval_loader:
        correct += (model(inputs).argmax(-1) == labels).sum()
"""
RIGHT = "model.eval()" + WRONG


def find(source: Source) -> Found:
    """Who evaluates elsewhere may set the mode there."""
    for loop in evaluations(source) if steps_of(source) else ():
        homes = [n for n in around(source, loop) if isinstance(n, (*FUNCTIONS, ast.Module))]
        calls = [*source.entered(loop), *(n for home in homes for n in source.within(home))]
        known = source.tree in homes or len(homes) > 1
        if known and not any(isinstance(node, ast.Call) and _sets_mode(node) for node in calls):
            yield loop


def _sets_mode(call: ast.Call) -> bool:
    return last(call.func) in ("eval", "set_eval") or (
        last(call.func) in ("train", "set_mode") and bool(call.args)
    )
