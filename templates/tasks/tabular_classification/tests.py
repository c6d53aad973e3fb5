import pytest
import torch

from data import fit_columns

#: into tests/test_app.py
#: slot expected
assert sum(shown.values()) == pytest.approx(1)

#: into tests/test_predict.py
#: slot metric
table, labels = map(torch.cat, zip(*read_batches(config), strict=True))
#: region names
names = predict.load_breast_cancer().target_names
#: end names
rows = predict.predict(config, model, table)
right = sum(row["label"] == names[label] for row, label in zip(rows, labels, strict=True))
assert right / len(labels) == pytest.approx(reported["test_accuracy"], rel=1e-6)

#: slot five
rows = predict.predict(config, model, read_batches(config)[0][0][:5])

#: replace names when path=given
names = fit_columns(config).classes
