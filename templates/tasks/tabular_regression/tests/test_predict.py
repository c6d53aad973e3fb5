import torch

#: slot metric
table, targets = map(torch.cat, zip(*read_batches(config), strict=True))
rows = predict.predict(config, model, table)
pairs = zip(rows, targets.tolist(), strict=True)
errors = [abs(row["prediction"] - target) for row, target in pairs]
assert sum(errors) / len(errors) == pytest.approx(reported["test_mae"], rel=1e-5)

#: slot five
rows = predict.predict(config, model, read_batches(config)[0][0][:5])
