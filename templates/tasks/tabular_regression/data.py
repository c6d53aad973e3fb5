import pandas as pd
from pandas.api.types import is_datetime64_any_dtype
from sklearn.datasets import load_diabetes

from lib.columns import to_numbers

#: slot load_table when dataset=diabetes
def load_table(config) -> tuple[Tensor, Tensor]:
    """442 patients: 10 measurements, shape (442, 10), and their diabetes a year later, (442,)."""
    rows, targets = load_diabetes(return_X_y=True, scaled=False)
    return torch.tensor(rows, dtype=torch.float32), torch.tensor(targets, dtype=torch.float32)

#: slot load_table when path=given
def read_targets(table: pd.DataFrame, config) -> Tensor:
    """The numbers to predict, shape (rows,)."""
    numbers = pd.to_numeric(table[config.target], errors="coerce")
    if is_datetime64_any_dtype(table[config.target]) or numbers.isna().all():
        raise SystemExit(
            f"{table.index[0][0]}: {config.target} has no numbers: set --target to a column that "
            "has."
        )
    exact = to_numbers(table[config.target]).to_numpy("float64")
    numbers = torch.tensor(exact, dtype=torch.float32)
    error, std = abs(exact - numbers.double().numpy()).max(), exact.std()
    if std > 0 and not error < 0.01 * std:
        raise SystemExit(
            f"{config.path}: {config.target} has numbers that 32 bits can't tell apart, such as "
            f"{exact[0]:.10g}: subtract a constant."
        )
    return numbers

#: slot fit_columns when path=given
columns = Columns.fit(features)
