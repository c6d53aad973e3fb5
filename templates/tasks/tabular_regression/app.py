from sklearn.datasets import load_diabetes

#: replace example when dataset=diabetes
data = load_diabetes()
example = dict(zip(data.feature_names, data.data[0].tolist(), strict=True))
