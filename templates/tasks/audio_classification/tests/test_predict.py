import pytest

from data import class_names

#: slot metric
samples = [sample for batch in read_batches(config) for sample in zip(*batch, strict=True)]
names, sounds = class_names(config), [(inputs, length) for inputs, length, _ in samples]
rows = predict_sounds(config, model, sounds)
right = sum(row["label"] == names[label] for row, (*_, label) in zip(rows, samples, strict=True))
assert right / len(samples) == pytest.approx(reported["test_accuracy"], rel=1e-6)

#: slot five
inputs, lengths, _ = read_batches(config)[0]
sounds = list(zip(inputs, lengths, strict=True))
rows = predict_sounds(config, model, (5 * sounds)[:5])  # there may be fewer
rows = [{**row, "sound": ""} for row in rows]
