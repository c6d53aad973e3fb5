"""The data: rows of numbers, shape (batch, columns), and targets, shape (batch,)."""

import torch
from torch import Tensor
from torch.utils.data import Dataset, TensorDataset, random_split


#: slot load_table
#: region file when read_file
@cache
def load_table(config) -> tuple[Tensor, Tensor]:
    """The columns of a file as numbers, shape (rows, columns), and the target, shape (rows,).

    A column of text becomes a column of 0 and 1 for each of its values.
    """
    path = config.path
    try:
        ...  #: slot read_file
    except (OSError, ValueError) as error:
        raise SystemExit(f"{path} can't be read: {error}") from error
    if config.target not in table:
        names = ", ".join(table.columns)
        raise SystemExit(f"{path} has no column {config.target!r}. Set --target to one of {names}.")
    if len(table) < 10:
        raise SystemExit(
            f"{path} has {len(table)} rows, too few for training, validation and test."
        )
    if empty := [name for name in table if table[name].isna().any()]:
        raise SystemExit(
            f"{path} has empty cells in {', '.join(empty)}: fill them, or drop the rows."
        )
    columns, target = table.drop(columns=config.target), table[config.target]
    texts = [name for name in columns if not is_numeric_dtype(columns[name])]
    if many := [name for name in texts if columns[name].nunique() > 50]:
        raise SystemExit(
            f"{path}: {', '.join(many)} has more than 50 different texts. Drop it, or turn it into "
            "numbers, such as the days since a date."
        )
    rows = pd.get_dummies(columns, columns=texts).to_numpy("float32")
    ...  #: slot file_targets


#: end file


def build_datasets(config) -> list[Dataset]:
    """The rows of the table, split into training, validation and test data."""
    # a seed of its own: another --seed must not move test samples into the training data
    split = torch.Generator().manual_seed(0)
    parts = random_split(TensorDataset(*load_table(config)), [0.6, 0.2, 0.2], generator=split)
    #: slot after_split
    return parts


#: slot datasets


#: slot build_loaders
