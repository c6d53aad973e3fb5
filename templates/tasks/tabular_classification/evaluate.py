from sklearn.datasets import load_breast_cancer

from data import fit_columns

#: replace names when dataset=breast_cancer
names = load_breast_cancer().target_names.tolist()

#: replace names when path=given
names = fit_columns(config).classes
