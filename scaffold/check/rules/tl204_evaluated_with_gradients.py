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
    trains = steps_of(source) and "set_grad_enabled" not in source.called
    for loop in evaluations(source) if trains else ():
        nodes = around(source, loop)
        blocks = [part for node in nodes for part in source.above(node)]
        blocks += [*nodes, *source.within(loop), *source.entered(loop)]
        known = source.tree in nodes or len(nodes) > 2  # its callers
        if known and not any(map(_is_off, blocks)):
            yield loop


def _is_off(node: ast.AST) -> bool:
    """Whether a block or function computes no gradients."""
    items = [item.context_expr for item in getattr(node, "items", [])]
    parts = [*items, *getattr(node, "decorator_list", [])]
    return any(last(part) in ("no_grad", "inference_mode") for part in parts)
