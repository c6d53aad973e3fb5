from data import fit_columns, split_table

#: replace names
names = fit_columns(config).classes

#: slot table
rows = split_table(config)[SPLITS.index(given.split)].head(len(columns["loss"])).astype(str)
table |= {name: rows[name].tolist() for name in rows if name not in table}
