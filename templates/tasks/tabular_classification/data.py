import pandas as pd
from sklearn.datasets import load_breast_cancer

from lib.names import check_spelling, count_names
from lib.splits import split_by_class

#: slot load_table when dataset=breast_cancer
def load_table(config) -> tuple[Tensor, Tensor]:
    """569 tumors: 30 measurements, shape (569, 30), and whether they are benign, (569,)."""
    rows, labels = load_breast_cancer(return_X_y=True)
    return torch.tensor(rows, dtype=torch.float32), torch.tensor(labels)

#: slot load_table when path=given
def read_targets(table: pd.DataFrame, config) -> Tensor:
    """The label of each row, shape (rows,): an index into `classes` of columns.json."""
    numbers = {name: number for number, name in enumerate(fit_columns(config).classes)}
    labels = to_texts(table[config.target]).map(numbers)
    return torch.tensor(labels.to_numpy("int64"))

#: slot fit_columns when path=given
labels = to_texts(pd.concat([table[config.target] for table in tables]))
check_spelling(first_places(labels), "class")
labels = labels.unique()
are_numbers = pd.to_numeric(pd.Series(labels), errors="coerce").notna().all()
classes = sorted(labels, key=float if are_numbers else str)
if len(classes) == 1:
    raise SystemExit(f"{config.path}: all rows have the {config.target} {labels[0]!r}: use two.")
columns = Columns.fit(features, classes=classes)

#: replace divide when path=given
parts = split_by_class(list(to_texts(table[config.target])), shares)

#: slot check_labels when path=given
check_labels(more[config.target], table[config.target])

#: slot load_table when path=given
def check_labels(labels: pd.Series, known: pd.Series) -> None:
    """Raises SystemExit for a class that the file with the training rows does not have."""
    names = sorted(to_texts(known).unique())
    wrong = ~to_texts(labels).isin(names)
    if wrong.any():
        raise SystemExit(
            f"{place_of(labels, wrong)} has the {labels.name} {str(labels[wrong].iloc[0])!r}. "
            f"The training data has {', '.join(names[:20])}: write it as there, or add rows of it."
        )

#: slot described when path=given
labels = to_texts(split_table(config)[0][config.target])
lines.append(f"classes of {config.target} in the training data: {count_names(labels)}")
