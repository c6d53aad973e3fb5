"""The model is moved after it was wrapped, or after its optimizer was made."""

from scaffold.check.loops import Found, Source, ast, is_optimizer, last

MEND = "Move the model first; then wrap it, then create the optimizer."
WRONG = """
optimizer = torch.optim.Adagrad(model.parameters())
model.to(device)
"""
RIGHT = "\n".join(reversed(WRONG.splitlines()))
PLACES = ("device", "cuda", "gpu", "rank", "xpu", "mps", "hpu", "npu")


def find(source: Source) -> Found:
    for call in source.calls("to", "cuda"):
        owner = getattr(call.func, "value", None)
        where = " ".join(map(ast.unparse, call.args))
        if owner is not None and (not call.args or any(p in where for p in PLACES)):
            statement = next(n for n in source.above(call) if isinstance(n, ast.stmt))
            rows = getattr(source.parents[id(statement)], "body", [])
            above = rows[: rows.index(statement)] if statement in rows else []
            made, name = [n for n in above if isinstance(n, ast.Assign)], ast.unparse(owner)
            yield from [call] * any(_uses(source, node, name) for node in made)


def _uses(source: Source, node: ast.Assign, name: str) -> bool:
    """Whether a statement wraps a model, or creates an optimizer for it."""
    if last(node.value) in ("DistributedDataParallel", "DDP"):
        return ast.unparse(node.targets[0]) == name
    calls = [n for n in ast.walk(node.value) if isinstance(n, ast.Call)]
    of = [ast.unparse(n.func)[: -len(".parameters")] for n in calls if last(n) == "parameters"]
    return is_optimizer(source, node.targets[0]) and name in of
