from columns import Columns

#: replace example
columns = Columns.load(config.output_dir)
first = {name: values[0] for name, values in columns.categories.items()}
example = {**columns.medians, **columns.first_days, **first}
