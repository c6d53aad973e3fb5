from data import fit_columns

#: replace classes
#: region rows
rows, _ = build_datasets(config)[0][:]
classes = len(fit_columns(config).classes)
#: end rows
