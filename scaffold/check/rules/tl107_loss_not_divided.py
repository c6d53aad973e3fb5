"""Accumulated losses are not divided, so updates grow with the accumulation steps."""

from scaffold.check.loops import Found, Source, Step, ast, is_constant, last, steps_of, word

MEND = "Divide each loss by the number of batches (better: samples) in its window."
WRONG = """
for step, batch in enumerate(loader):
    loss = model(batch).loss
    loss.backward()
    if (step + 1) % accumulation_steps == 0:
        optimizer.step()
        optimizer.zero_grad()
"""
RIGHT = WRONG.replace(".loss\n", ".loss / accumulation_steps\n", 1)


def find(source: Source) -> Found:
    given = ("gradient_accumulation_steps", "gradient_accumulation_plugin")
    if any(word(call, *given) is not None for call in source.calls("Accelerator")):
        return
    for step in steps_of(source):
        waits = any(step.condition(call) for call in step.backwards)  # for something else
        by = [part.right for part in step.windows if not waits]
        values = [value for part in by for value in source.values(part)]
        one = values and all(is_constant(value, 1) for value in values)
        scaled = any(_scales(node, step) for node in source.within(step.node))
        if by and not one and not scaled:
            yield from step.backwards[:1]


def _scales(node: ast.AST, step: Step) -> bool:
    """Whether a loss is divided or multiplied here, by whatever it is."""
    match node:
        case ast.AugAssign(target=target, op=ast.Div() | ast.Mult()):
            return last(target) in step.losses
        case ast.Assign(targets=[target], value=value) if last(target) in step.losses:
            parts = [part for part in ast.walk(value) if isinstance(part, ast.BinOp)]
            return any(isinstance(part.op, ast.Div | ast.Mult) for part in parts)
        case ast.Call(func=ast.Attribute(attr="backward"), args=args):
            return any(isinstance(part, ast.BinOp) for arg in args for part in ast.walk(arg))
    return last(node) in ("div", "div_", "mul", "mul_")
