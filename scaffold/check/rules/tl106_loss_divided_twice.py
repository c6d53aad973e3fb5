"""The loss is divided by the accumulation steps twice, so updates are too small.

`accelerator.backward` divides by Accelerator's own `gradient_accumulation_steps`.
"""

from scaffold.check.loops import Found, Source, ast, is_accelerator, named, steps_of, word

MEND = "Pass the undivided loss to accelerator.backward()."
WRONG = """
accelerator = Accelerator(gradient_accumulation_steps=4)
for batch in loader:
    with accelerator.accumulate(model):
        loss = model(batch).loss / accumulation_steps
        accelerator.backward(loss)
"""
RIGHT = WRONG.replace(" / accumulation_steps", "")


def find(source: Source) -> Found:
    given = ("gradient_accumulation_steps", "gradient_accumulation_plugin")
    steps = [found for call in source.calls("Accelerator") if (found := word(call, *given))]
    texts = [ast.unparse(value) for value in steps]
    for step in steps_of(source):
        calls = [call for call in step.backwards if is_accelerator(source, call)]
        if any(texts or step.accumulates(call) for call in calls):
            for by in [by for operator, by in step.scales() if isinstance(operator, ast.Div)]:
                if named(by, r"\w*accum\w*") or ast.unparse(by) in texts:
                    yield by
