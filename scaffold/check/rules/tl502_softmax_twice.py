"""Probabilities go into a loss that takes logits, so the softmax is applied twice."""

from scaffold.check.loops import Found, Source, ast, last
from scaffold.merge.semantics.types import Object

MEND = "Pass the logits, without softmax or sigmoid."
WRONG = """
for inputs, labels in loader:
    output = F.softmax(model(inputs), dim=-1)
    loss = F.cross_entropy(output, labels)
"""
RIGHT = WRONG.replace("F.softmax(model(inputs), dim=-1)", "model(inputs)")
LOSSES = {
    "softmax": (".cross_entropy", "CrossEntropyLoss()"),
    "sigmoid": (".binary_cross_entropy_with_logits", "BCEWithLogitsLoss()"),
}


def find(source: Source) -> Found:
    for call, _ in source.facts.calls:
        for twice, ends in LOSSES.items() if call.args else ():
            values = source.latest(call.args[0]) if source.is_a(call.func, *ends) else []
            if any(_applies(source, value, twice) for value in values):
                yield call


def _applies(source: Source, node: ast.expr, name: str) -> bool:
    """Whether a softmax makes this, also as the end of a model of this file."""
    if not isinstance(node, ast.Call):
        return False
    if last(node.func) == name or source.is_a(node.func, f".{name.capitalize()}()"):
        return True
    makers = [value for value in source.values(node.func) if isinstance(value, ast.Call)]
    ends = [last(value.args[-1]) for value in makers if last(value) == "Sequential" and value.args]
    kind = source.project.kind(node.func, source.scope(node))
    own = f"{kind.of.name}.forward" if isinstance(kind, Object) else ""
    scope = source.project.definitions.get((source.path, own))
    rows = [n for n in source.within(scope.node) if isinstance(n, ast.Return)] if scope else []
    deeper = any(row.value and _applies(source, row.value, name) for row in rows)
    return deeper or name.capitalize() in ends
