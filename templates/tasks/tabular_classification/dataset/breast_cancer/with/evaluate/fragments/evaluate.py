from sklearn.datasets import load_breast_cancer

#: replace names
names = load_breast_cancer().target_names.tolist()
