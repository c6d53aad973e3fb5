#: when project.task=tabular_classification|tabular_regression
from data import split_table

#: slot table when path=given
rows = split_table(config)[SPLITS.index(given.split)].head(len(columns["loss"])).astype(object).fillna("").astype(str)
for name in rows:  # index, loss and the like are also names of columns here
    table[f"{name} of the data" if name in table else name] = rows[name].tolist()
