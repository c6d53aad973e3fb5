from data import fit_columns

#: replace names
names = fit_columns(config).classes
