import pandas as pd
from pandas.api.types import is_numeric_dtype
from sklearn.datasets import load_breast_cancer

#: slot load_table when dataset=breast_cancer
def load_table(config) -> tuple[Tensor, Tensor]:
    """569 tumors: 30 measurements, shape (569, 30), and whether they are benign, (569,)."""
    rows, labels = load_breast_cancer(return_X_y=True)
    return torch.tensor(rows, dtype=torch.float32), torch.tensor(labels)

#: slot load_table when path=given
def read_targets(table: pd.DataFrame, config) -> Tensor:
    """The label of each row, shape (rows,): an index into `classes` of columns.json."""
    numbers = {name: number for number, name in enumerate(fit_columns(config).classes)}
    labels = table[config.target].astype(str).map(numbers)
    return torch.tensor(labels.to_numpy("int64"))

#: slot fit_columns when path=given
labels = pd.concat([table[config.target] for table in tables])
if not is_numeric_dtype(labels):
    labels = labels.astype(str)
classes = [str(label) for label in sorted(labels.unique())]
if len(classes) == 1:
    raise SystemExit(f"All rows have the same {config.target}, so there is nothing to learn.")
return Columns.fit(features, classes=classes)
