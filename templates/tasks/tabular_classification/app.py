from sklearn.datasets import load_breast_cancer

#: replace example when dataset=breast_cancer
data = load_breast_cancer()
example = dict(zip(data.feature_names, data.data[0].tolist(), strict=True))
