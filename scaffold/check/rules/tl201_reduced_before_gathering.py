"""A metric is averaged on each process before it is gathered, so padding counts too.

`gather_for_metrics` cuts the rows that pad the last batch, and a mean has no rows. Processes with
fewer samples count as much as the others.
"""

from scaffold.check.loops import Found, Source, ast, is_accelerator, last

MEND = "Gather a value per sample, then add up sums and counts."
WRONG = """
for inputs, labels in eval_loader:
    correct = (model(inputs).argmax(-1) == labels).float().mean()
    accuracies.append(accelerator.gather_for_metrics(correct))
"""
RIGHT = WRONG.replace(".mean()", "")


def find(source: Source) -> Found:
    for call in source.calls("gather_for_metrics"):
        values = source.latest(call.args[0]) if call.args else []
        if is_accelerator(source, call) and any(map(_reduced, values)):
            yield call


def _reduced(node: ast.expr) -> bool:
    while isinstance(node, ast.Call) and last(node.func) in ("detach", "float", "to", "item"):
        node = getattr(node.func, "value", ast.Constant(None))
    if not isinstance(node, ast.Call):
        return isinstance(node, ast.Attribute) and node.attr == "loss"
    if last(node.func) in ("mean", "nanmean"):  # with arguments, over some dimensions
        return not node.args and not node.keywords
    return last(node.func) in ("cross_entropy", "mse_loss", "criterion") and not node.keywords
