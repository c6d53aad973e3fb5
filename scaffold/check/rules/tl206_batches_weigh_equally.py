"""Means of batches are averaged, so samples of a smaller last batch weigh more.

The result depends on the batch size, and on the number of processes.
"""

import ast
import re

from scaffold.check.loops import Found, additions, evaluations, has_equal_batches, loader_of
from scaffold.check.source import Source, is_constant, is_mean, last, named, plain

MEND = "Add up sums per sample, and divide by the number of samples."
WRONG = """
for inputs, labels in eval_loader:
    loss += loss_function(model(inputs), labels).item()
loss /= len(eval_loader)
"""
RIGHT = WRONG.replace("item()", "item() * len(labels)").replace("loader)", "loader.dataset)")
SIZES = {"len", "size", "shape"}
LOSSES = r"\w*loss|criterion|cross_entropy|loss_\w+|acc|accuracy|f1"


def find(source: Source) -> Found:
    for call in source.calls("gather", "gather_for_metrics", "gather_function"):
        value = call.args[0] if call.args else None
        if isinstance(value, ast.Call) and last(value.func) == "repeat":
            inside = any(loop in source.above(call) for loop in evaluations(source))
            counts = {last(n) for part in value.args for n in source.latest(part)}
            if not counts & SIZES and (inside or last(call.func) == "gather_function"):
                yield call
    sums = re.search(r"reduction\s*=\s*.sum", source.text)
    for loop in (n for n in evaluations(source) if not has_equal_batches(source, n)):
        pairs = additions(source, loop)
        means = {name for name, v in pairs if any(map(is_mean, source.latest(plain(v))))}
        means |= {name for name, v in pairs if not sums and named(plain(v), LOSSES)}
        one = {name for name, value in pairs if is_constant(value, 1)}
        one |= {f"{n.id} + 1" for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
        rows = source.within(source.home(loop))
        below = [node for node in rows if getattr(node, "lineno", 0) > (loop.end_lineno or 0)]
        yield from (node for node in below if _averaged(source, node, one) in means - {""})


def _averaged(source: Source, node: ast.AST, one: set[str]) -> str:
    """The name of what is divided by the number of batches. Each batch adds one to these names."""
    match node:
        case ast.BinOp(left=left, op=ast.Div(), right=right) | ast.AugAssign(
            target=left, op=ast.Div(), value=right
        ):
            for by in source.latest(right):
                counts = last(by) == "len" and loader_of(source, by) is not None
                if counts or ast.unparse(by) in one:
                    return last(plain(left))
            return next(iter(re.findall(r"^sum\((\w+)\) / len\(\1\)$", ast.unparse(node))), "")
        case ast.Call(func=ast.Attribute(attr="mean" | "average", value=owner), args=args):
            value: ast.expr = (*args, owner)[0]
            made = source.latest(value)[-1]
            if isinstance(made, ast.Call):  # the batches in torch.cat() can be of other sizes
                value = made.args[0] if made.args and last(made) != "cat" else made
            return last(value)
    return ""
