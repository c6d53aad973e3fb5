"""A loss is read from the device at each step, so the device waits for Python each time."""

from scaffold.check.loops import Found, Source, last, steps_of

MEND = "Add up loss.detach() on the device, and read the sum every few steps."
WRONG = """
model.to(device)
for inputs, labels in loader:
    loss = loss_function(model(inputs), labels)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    total += loss.item()
"""
RIGHT = WRONG.replace("item", "detach")


def find(source: Source) -> Found:
    """The first of each loop. On the CPU there is nothing to wait for."""
    for step in steps_of(source) if source.called.keys() & {"to", "cuda", "prepare"} else ():
        for call in step.calls("item", "float") if step.loops and step.updates else ():
            value = call.args[0] if call.args else getattr(call.func, "value", None)
            if last(value) in step.losses and step.condition(call) is None:
                yield call
                break
