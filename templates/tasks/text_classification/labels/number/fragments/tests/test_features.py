import pytest
from model import Scale
from accelerate import Accelerator
from data import build_loaders

#: slot tests
def test_errors_are_in_the_unit_of_the_numbers():
    """RMSE, MAE and R² are those of the predictions for the whole set."""
    accelerator, config = Accelerator(), train.Config(**SETTINGS)
    model = accelerator.prepare(build_model(config))
    loader = accelerator.prepare(build_loaders(config)[1])
    metrics = train.evaluate(accelerator, model, loader, "val", 0)
    model.eval()
    scale, parts = Scale(model.config), []
    with torch.no_grad():
        for batch in loader:
            numbers = batch.pop("labels")
            parts.append((scale.restore(model(**batch).logits), numbers))
    predictions, targets = map(torch.cat, zip(*parts, strict=True))
    errors = predictions - targets
    expected = {
        "val_rmse": errors.square().mean().sqrt(),
        "val_mae": errors.abs().mean(),
        "val_r2": 1 - errors.square().sum() / (targets - targets.mean()).square().sum(),
    }
    for name, value in expected.items():
        assert metrics[name] == pytest.approx(value.item(), rel=1e-4, abs=1e-5), name


#: replace rows
rows = [(columns * [text], 0.0) for text in ("a", "a b")]
