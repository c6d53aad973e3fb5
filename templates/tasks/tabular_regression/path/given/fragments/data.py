from pandas.api.types import is_numeric_dtype

#: slot load_table
def read_targets(table: pd.DataFrame, config) -> Tensor:
    """The numbers to predict, shape (rows,)."""
    if not is_numeric_dtype(table[config.target]):
        raise SystemExit(f"{config.target} has no numbers: set --target to a column that has.")
    exact = table[config.target].to_numpy("float64")
    numbers = torch.tensor(exact, dtype=torch.float32)
    error, std = abs(exact - numbers.double().numpy()).max(), exact.std()
    if std > 0 and not error < 0.01 * std:
        raise SystemExit(
            f"{config.target} has numbers that 32 bits can't tell apart, such as {exact[0]:.10g}: "
            "subtract a constant."
        )
    return numbers

#: slot fit_columns
return Columns.fit(features)
