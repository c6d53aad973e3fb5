"""A metric is averaged on each process before it is gathered, so padding counts too.

`gather_for_metrics` cuts the rows that pad the last batch, and a mean has no rows. Processes with
fewer samples count as much as the others.
"""

from scaffold.check.loops import Found, Source, ast, is_accelerator, last
from scaffold.check.source import is_mean, plain

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
    value = plain(node)
    if not isinstance(value, ast.Call):
        return isinstance(value, ast.Attribute) and value.attr == "loss"
    losses = ("cross_entropy", "mse_loss", "criterion")
    return is_mean(value) or (last(value.func) in losses and not value.keywords)
