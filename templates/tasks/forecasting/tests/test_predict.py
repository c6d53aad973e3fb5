import torch

#: slot functions
def to_histories(contexts, scales) -> list[dict]:
    """Contexts of windows as predict.py reads them from a file."""
    return [
        {"series": f"{row}", "start": "0", "format": "", "mean": mean, "std": std, "context": context}
        for row, (context, (mean, std, _)) in enumerate(zip(contexts, scales.tolist(), strict=True))
    ]

#: slot metric
contexts, targets, scales = map(torch.cat, zip(*read_batches(config), strict=True))
rows = predict.predict(config, model, to_histories(contexts, scales))
forecasts = torch.tensor([row["forecast"] for row in rows])
errors = (forecasts - (scales[:, :1] + scales[:, 1:2] * targets)).abs()
assert float(errors.nanmean()) == pytest.approx(reported["test_mae"], rel=1e-5)

#: slot five
contexts, _, scales = next(iter(build_loaders(config)[2]))
rows = predict.predict(config, model, to_histories(contexts, scales)[:5])
