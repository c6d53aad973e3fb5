from pandas.api.types import is_numeric_dtype

#: slot load_table
def read_targets(table: pd.DataFrame, config) -> Tensor:
    """The numbers to predict, shape (rows,)."""
    if not is_numeric_dtype(table[config.target]):
        raise SystemExit(f"{config.target} has no numbers: set --target to a column that has.")
    return torch.tensor(table[config.target].to_numpy("float32"))

#: slot fit_columns
return Columns.fit(features)
