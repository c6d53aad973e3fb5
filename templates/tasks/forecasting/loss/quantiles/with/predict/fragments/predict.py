from model import QUANTILES

#: replace row
names = ["forecast" if level == 0.5 else f"quantile_{level}" for level in QUANTILES]
rows.append({**row, **dict(zip(names, forecast.T.tolist(), strict=True))})
