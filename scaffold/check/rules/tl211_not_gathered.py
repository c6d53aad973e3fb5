"""Each process evaluates its part of the data, and nothing brings the parts together."""

from scaffold.check.loops import Found, Source, evaluations, last, named, steps_of

MEND = "Gather the values of each batch with accelerator.gather_for_metrics()."
WRONG = """
train_loader, eval_loader, model = accelerator.prepare(train_loader, eval_loader, model)
for inputs, labels in train_loader:
    accelerator.backward(model(inputs).loss)
for inputs, labels in eval_loader:
    correct += (model(inputs).argmax(-1) == labels).sum()
"""
RIGHT = WRONG.replace("+= (", "+= accelerator.gather_for_metrics(")


def find(source: Source) -> Found:
    prepared = [last(value) for call in source.calls("prepare") for value in call.args]
    gathers = any(name.startswith(("gather", "reduce", "all_")) for name in source.called)
    metrics = any("torchmetrics" in found.module for found, _ in source.facts.imports)
    if steps_of(source) and any(named(name, r"\w*loader") for name in prepared):
        yield from evaluations(source) if not gathers and not metrics else ()
