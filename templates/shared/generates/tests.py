from accelerate import Accelerator

#: into tests/test_app.py with generates
#: slot values
values = ["abc", 3]

#: slot expected
[row] = app.predict(config, model, ["abc"], 3)
assert shown == row["text"]

#: into tests/test_predict.py with generates
#: slot metric
accelerator = Accelerator(mixed_precision=getattr(config, "mixed_precision", "no"))
model, loader = accelerator.prepare(model, build_loaders(config)[2])
metrics = train.evaluate(accelerator, model, loader, "test", config.limit_batches)
assert metrics["test_loss"] == pytest.approx(reported["test_loss"], rel=1e-6)
