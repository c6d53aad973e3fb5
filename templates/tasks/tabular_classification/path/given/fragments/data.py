from pandas.api.types import is_numeric_dtype

#: slot load_table
def read_targets(table: pd.DataFrame, config) -> Tensor:
    """The label of each row, shape (rows,): an index into `classes` of columns.json."""
    numbers = {name: number for number, name in enumerate(fit_columns(config).classes)}
    labels = table[config.target].astype(str).map(numbers)
    return torch.tensor(labels.to_numpy("int64"))

#: slot fit_columns
labels = pd.concat([table[config.target] for table in tables])
if not is_numeric_dtype(labels):
    labels = labels.astype(str)
classes = [str(label) for label in sorted(labels.unique())]
if len(classes) == 1:
    raise SystemExit(f"All rows have the same {config.target}, so there is nothing to learn.")
return Columns.fit(features, classes=classes)
