"""DistributedSampler repeats samples so that all processes have equally many, in tests too."""

from scaffold.check.loops import TESTS, Found, Source, evaluations, is_constant, named, word

MEND = "Gather per sample and cut to len(dataset), or evaluate the rest (drop_last) separately."
WRONG = """
sampler = DistributedSampler(test_dataset, shuffle=False)
for inputs, labels in test_loader:
    correct += (model(inputs).argmax(-1) == labels).sum()
"""
RIGHT = WRONG.replace("False", "False, drop_last=True")


def find(source: Source) -> Found:
    gathers = any(name.startswith(("all_gather", "gather")) for name in source.called)
    for call in source.calls("DistributedSampler") if evaluations(source) and not gathers else ():
        data = call.args[0] if call.args else word(call, "dataset")
        if named(data, TESTS) and not is_constant(word(call, "drop_last"), True):
            yield call
