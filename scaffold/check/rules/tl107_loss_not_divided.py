"""Accumulated losses are not divided, so updates grow with the accumulation steps."""

from scaffold.check.loops import Found, Source, ast, is_constant, is_given, named, steps_of, word

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
    divides = any(word(call, *given) is not None for call in source.calls("Accelerator"))
    for step in steps_of(source) if not divides else ():
        names = [n for n in ast.walk(step.backwards[0]) if isinstance(n, ast.Name)]
        elsewhere = any(is_given(source, n) for n in names if n.id in step.losses)
        waits = any(step.condition(call) for call in step.backwards)  # for something else
        by = [part.right for part in step.windows]
        match step.node:
            case ast.For(iter=ast.Call(func=ast.Name(id="range"), args=[n])):
                by += [n] if not step.updates and named(n, r"\w*accum\w*|\w*micro\w*") else []
        values = [value for part in by for value in source.values(part)]
        one = values and all(is_constant(value, 1) for value in values)
        scaled = [op for op, _ in step.scales() if isinstance(op, ast.Div | ast.Mult)]
        divided = step.calls("div", "div_", "mul", "mul_")
        if by and not (elsewhere or waits or one or scaled or divided):
            yield from step.backwards[:1]
