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
        loops = [n for n in (step.node, *source.above(step.node)) if isinstance(n, ast.For)]
        whole = [n for n in loops if len(list(ast.iter_child_nodes(n.iter))) == 2]  # from 0
        targets = [loop.target for loop in whole if last(loop.iter) == "enumerate"]
        counters = {last(target.elts[0]) for target in targets if isinstance(target, ast.Tuple)}
        for part in step.windows:
            test = ast.unparse(source.parents[id(part)])
            if last(part.left) in counters and (test.endswith(" == 0") or test.startswith("not ")):
                yield part
