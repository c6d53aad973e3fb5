"""`step % n == 0` is true for the first batch, so it updates before the window is full."""

from scaffold.check.loops import Found, Source, ast, last, steps_of

MEND = "Write (step + 1) % n == 0."
WRONG = """
for step, batch in enumerate(loader):
    loss = model(batch).loss / n
    loss.backward()
    if step % n == 0:
        optimizer.step()
        optimizer.zero_grad()
"""
RIGHT = WRONG.replace("step % n", "(step + 1) % n")


def find(source: Source) -> Found:
    for step in steps_of(source):
        counters = set()  # from 0
        for loop in (step.node, *source.above(step.node)):
            match loop:
                case ast.For(ast.Tuple([first, _]), ast.Call(ast.Name("enumerate"), [_], [])):
                    counters.add(last(first))
        for part in step.windows:
            test = ast.unparse(source.parents[id(part)])
            if last(part.left) in counters and (test.endswith(" == 0") or test.startswith("not ")):
                yield part
