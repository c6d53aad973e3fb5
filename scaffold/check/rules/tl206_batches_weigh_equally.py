"""Means of batches are averaged, so samples of a smaller last batch weigh more.

The result depends on the batch size, and on the number of processes.
"""

import re

from scaffold.check.loops import Found, Source, added, ast, evaluations, last, loader_of, named

MEND = "Add up sums per sample, and divide by the number of samples."
WRONG = """
for inputs, labels in eval_loader:
    loss += loss_function(model(inputs), labels).item()
loss /= len(eval_loader)
"""
RIGHT = WRONG.replace("item()", "item() * len(labels)").replace("loader)", "loader.dataset)")


def find(source: Source) -> Found:
    for call in source.calls("gather", "gather_for_metrics", "gather_function"):
        value = call.args[0] if call.args else None
        if isinstance(value, ast.Call) and last(value.func) == "repeat":
            counts = [other for part in value.args for other in source.latest(part)]
            inside = any(loop in source.above(call) for loop in evaluations(source))
            real = any(last(count) in ("len", "size", "shape") for count in counts)
            if not real and (inside or last(call.func) == "gather_function"):
                yield call
    sums = re.search(r"reduction\s*=\s*.sum", source.text)
    for loop in evaluations(source) if not sums else ():
        names = {_summed(node) for node in source.within(loop)} - {""}
        rows = source.within(source.home(loop))
        below = [node for node in rows if getattr(node, "lineno", 0) > (loop.end_lineno or 0)]
        yield from (node for node in below if _averaged(source, node) in names)


def _summed(node: ast.AST) -> str:
    """The name that the mean loss of a batch is added or appended to."""
    target, value = added(node) or (None, None)
    while isinstance(value, ast.Call) and last(value.func) in ("item", "detach", "cpu"):
        value = getattr(value.func, "value", value)
    mean = named(value, r"\w*loss|criterion|cross_entropy|loss_\w+|acc|accuracy")
    return last(target) if mean else ""


def _averaged(source: Source, node: ast.AST) -> str:
    """The name of what is divided by the number of batches."""
    match node:
        case ast.BinOp(left=left, op=ast.Div(), right=right) | ast.AugAssign(
            target=left, op=ast.Div(), value=right
        ):
            for by in source.latest(right):
                counts = isinstance(by, ast.Call) and last(by) == "len"
                if counts and loader_of(source, by) is not None:
                    return last(left)
            listed = re.fullmatch(r"sum\((\w+)\) / len\(\1\)", ast.unparse(node))
            return listed[1] if listed else ""
        case ast.Call(func=ast.Attribute(attr="mean" | "average"), args=[value, *_]):
            return last(value.args[0] if isinstance(value, ast.Call) and value.args else value)
    return ""
