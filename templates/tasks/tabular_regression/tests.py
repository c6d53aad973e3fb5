from math import isfinite

import pytest
import torch
from accelerate import Accelerator

import train
from data import build_datasets, build_loaders
from helpers import SETTINGS
from model import build_model

#: into tests/test_app.py
#: slot expected
assert isfinite(shown)

#: into tests/test_features.py
#: slot tests
def test_errors_are_in_the_unit_of_the_targets():
    """RMSE, MAE and R² are those of the predictions that the model returns."""
    accelerator = Accelerator()
    model = accelerator.prepare(build_model(train.Config(**SETTINGS)))
    loader = accelerator.prepare(build_loaders(train.Config(**SETTINGS))[1])
    metrics = train.evaluate(accelerator, model, loader, "val", 0)
    rows, targets = loader.dataset[:]
    with torch.no_grad():
        errors = model.eval()(rows) - targets
    expected = {
        "val_rmse": errors.square().mean().sqrt(),
        "val_mae": errors.abs().mean(),
        "val_r2": 1 - errors.square().sum() / (targets - targets.mean()).square().sum(),
    }
    for name, value in expected.items():
        assert metrics[name] == pytest.approx(value.item(), rel=1e-4), name


def test_predicts_the_mean_before_it_has_learned():
    """A new model predicts values near the training targets, in any unit."""
    config = train.Config(**SETTINGS)
    rows, targets = build_datasets(config)[0][:]
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        predictions = build_model(config).eval()(rows)
    assert predictions.dtype == torch.float32, "16 bits have too few digits for large targets"
    assert predictions.shape == targets.shape
    assert (predictions - targets.mean()).abs().max() < 3 * targets.std()

#: into tests/test_predict.py
#: slot metric
table, targets = map(torch.cat, zip(*read_batches(config), strict=True))
rows = predict.predict(config, model, table)
pairs = zip(rows, targets.tolist(), strict=True)
errors = [abs(row["prediction"] - target) for row, target in pairs]
assert sum(errors) / len(errors) == pytest.approx(reported["test_mae"], rel=1e-5)

#: slot five
rows = predict.predict(config, model, read_batches(config)[0][0][:5])
