"""Each process evaluates its part of the data, and nothing brings the parts together."""

from scaffold.check.loops import Found, Source, ast, evaluations, last, named, steps_of

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
        for loop in evaluations(source) if not gathers and not metrics else ():
            used = [n.value for n in source.within(loop) if isinstance(n, ast.Attribute)]
            made = [v for node in used for v in source.values(node) if source.origins(v)]
            # an object from another file that has the accelerator may gather
            if not any("accelerator" in map(last, getattr(v, "args", [])) for v in made):
                yield loop
