"""DistributedSampler gets no `set_epoch`, so all epochs have the same order."""

from scaffold.check.loops import TESTS, Found, Source, ast, is_constant, named, steps_of, word

MEND = "Call sampler.set_epoch(epoch) at the start of each epoch."
WRONG = """
sampler = DistributedSampler(train_data)
for epoch in range(epochs):
    for batch in DataLoader(train_data, sampler=sampler):
        model(batch).loss.backward()
"""
RIGHT = WRONG.replace("    for batch", "    sampler.set_epoch(epoch)\n    for batch")


def find(source: Source) -> Found:
    loops = [n for n in source.all(ast.For) if isinstance(n, ast.For)]
    epochs = steps_of(source) and any(named(loop.target, "epochs?|ep|i|_") for loop in loops)
    for call in source.calls("DistributedSampler") if not source.calls("set_epoch") else ():
        data = call.args[0] if call.args else word(call, "dataset")
        if epochs and not named(data, TESTS) and not is_constant(word(call, "shuffle"), False):
            yield call
