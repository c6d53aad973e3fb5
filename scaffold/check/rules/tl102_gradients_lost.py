"""Gradients are cleared between `backward` and `step`, so the update has none of them."""

from scaffold.check.loops import Found, Source, ast, is_update, last, steps_of

MEND = "Move zero_grad() after step(), or before backward()."
WRONG = """
for inputs, labels in loader:
    loss_function(model(inputs), labels).backward()
    optimizer.zero_grad()
    optimizer.step()
"""
RIGHT = WRONG.replace("    optimizer.zero_grad()\n", "") + "    optimizer.zero_grad()\n"


def find(source: Source) -> Found:
    for step in steps_of(source):
        waiting: list[ast.Call] = []  # clears after a backward, with no backward since
        computed = False
        for call in step.calls("backward", "zero_grad", "step"):
            if last(call.func) == "backward":
                waiting, computed = [], True
            elif last(call.func) == "zero_grad" and computed:
                waiting.append(call)
            elif is_update(source, call):
                yield from (clear for clear in waiting if _same(source, clear, call))
                waiting, computed = [], False


def _same(source: Source, clear: ast.Call, update: ast.Call) -> bool:
    """Whether both are of one optimizer, in one block."""
    one, other = (list(source.above(call))[1] for call in (clear, update))
    owner = update.args[0] if update.args else getattr(update.func, "value", update)
    cleared = getattr(clear.func, "value", clear)
    return one is other and (last(cleared) == "model" or ast.unparse(cleared) == ast.unparse(owner))
