"""The model is evaluated with gradients, which takes memory for a backward that never comes."""

from scaffold.check.loops import Found, Source, around, ast, evaluations, last, steps_of

MEND = "Put the loop in `with torch.no_grad():`, or the function below @torch.no_grad()."
WRONG = """
loss.backward()
model.eval()
for inputs, labels in eval_loader:
    with torch.autocast("cuda"):
        correct += (model(inputs).argmax(-1) == labels).sum()
"""
RIGHT = WRONG.replace('torch.autocast("cuda")', "torch.no_grad()")


def find(source: Source) -> Found:
    if not steps_of(source) or "set_grad_enabled" in source.called:
        return
    for loop in evaluations(source):
        nodes = around(source, loop)
        blocks = [part for node in nodes for part in source.above(node)]
        if any(map(_is_off, (*blocks, *nodes, *source.within(loop), *source.entered(loop)))):
            continue
        if source.tree in nodes or len(nodes) > 2:  # its callers are known
            yield loop


def _is_off(node: ast.AST) -> bool:
    """Whether a block or function computes no gradients."""
    items = [item.context_expr for item in getattr(node, "items", [])]
    parts = [*items, *getattr(node, "decorator_list", [])]
    return any(last(part) in ("no_grad", "inference_mode") for part in parts)
