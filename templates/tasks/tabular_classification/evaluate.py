from sklearn.datasets import load_breast_cancer

from data import fit_columns, split_table

#: replace names when dataset=breast_cancer
names = load_breast_cancer().target_names.tolist()

#: replace names when path=given
names = fit_columns(config).classes

#: slot table when path=given
rows = split_table(config)[SPLITS.index(given.split)].head(len(columns["loss"])).astype(str)
table |= {name: rows[name].tolist() for name in rows if name not in table}
