import pandas as pd
from pandas.api.types import is_numeric_dtype
from sklearn.datasets import load_diabetes

#: slot load_table when dataset=diabetes
def load_table(config) -> tuple[Tensor, Tensor]:
    """442 patients: 10 measurements, shape (442, 10), and their diabetes a year later, (442,)."""
    rows, targets = load_diabetes(return_X_y=True, scaled=False)
    return torch.tensor(rows, dtype=torch.float32), torch.tensor(targets, dtype=torch.float32)

#: slot load_table when path=given
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

#: slot fit_columns when path=given
return Columns.fit(features)
