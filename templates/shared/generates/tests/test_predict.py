#: with generates
from accelerate import Accelerator

#: slot metric
accelerator = Accelerator(mixed_precision=getattr(config, "mixed_precision", "no"))
model, loader = accelerator.prepare(model, build_loaders(config)[2])
metrics = train.evaluate(accelerator, model, loader, "test", config.limit_batches)
assert metrics["test_loss"] == pytest.approx(reported["test_loss"], rel=1e-6)
