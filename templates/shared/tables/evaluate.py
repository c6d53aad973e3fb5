#: when project.task=tabular_classification|tabular_regression
from data import split_table

#: slot table when path=given
rows = split_table(config)[SPLITS.index(given.split)].head(len(columns["loss"])).astype(object).fillna("").astype(str)
table |= {name: rows[name].tolist() for name in rows if name not in table}
