#: file when project.task=tabular_classification|tabular_regression
"""The data: rows of numbers, shape (batch, columns), and targets, shape (batch,)."""

import torch
from torch import Tensor
from torch.utils.data import Dataset, TensorDataset


#: slot load_table


def build_datasets(config) -> list[Dataset]:
    """The rows of the table, split into training, validation and test data."""
    #: region split
    rows = TensorDataset(*load_table(config))
    # a fixed seed: another --seed must not move test samples into the training data
    rng = torch.Generator().manual_seed(0)
    parts = [part.indices for part in random_split(range(len(rows)), [0.6, 0.2, 0.2], rng)]
    #: slot after_split
    return [TensorDataset(*rows[part]) for part in parts]
    #: end split


#: slot datasets


#: slot build_loaders
#: end file

from functools import cache

import pandas as pd
import torch
from pyarrow import parquet
from torch.utils.data import Dataset, TensorDataset, random_split

from columns import Columns
from lib.cells import read_csv
from lib.columns import check_kinds, place_of, read_cells, to_texts
from lib.names import check_spelling
from lib.splits import find_shares

#: slot load_table when path=given
def read_file(path: str) -> pd.DataFrame:
    """All rows and columns of a file. The index has the file and the number of each row."""
    ...  #: slot read_file
    if table.empty:
        raise SystemExit(f"{path} has no rows.")
    table.index = pd.MultiIndex.from_product([[path], range(1, len(table) + 1)])
    return table


def read_table(path: str, config) -> pd.DataFrame:
    """The rows of a file, without the columns to leave out."""
    table = read_file(path)
    dropped = [name for name in config.drop_columns.split(",") if name]
    names = ", ".join(map(str, table.columns))
    if config.target not in table:
        raise SystemExit(f"{path} has no column {config.target!r}. Set --target to one of {names}.")
    if unknown := [name for name in dropped if name not in table]:
        raise SystemExit(
            f"{path} has no column {unknown[0]!r}: take it out of --drop-columns, or correct it. "
            f"There are {names}."
        )
    if config.target in dropped:
        raise SystemExit(f"{config.target} is the target: take it out of --drop-columns.")
    if (empty := table[config.target].isna()).any():
        place = place_of(table, empty)
        raise SystemExit(
            f"{place} has no {config.target}, as {empty.sum()} row(s) in all: drop these rows."
        )
    #: slot check_table
    return table.drop(columns=dropped)


@cache
def split_table(config) -> list[pd.DataFrame]:
    """The rows for training, validation and test. A split without a file is a share of `path`."""
    table = read_table(config.path, config)
    if len(table) < 10:
        raise SystemExit(f"{config.path} has {len(table)} rows: use 10 or more.")
    paths = [config.val_path, config.test_path]
    shares = find_shares(paths, config)
    #: region divide
    # a fixed seed: another --seed must not move test rows into the training data
    rng = torch.Generator().manual_seed(0)
    parts = random_split(range(len(table)), [1 - sum(shares), *shares], rng)
    parts = [part.indices for part in parts]
    #: end divide
    for number, path in enumerate(paths, start=1):
        if path:
            more = read_table(path, config)
            if missing := [name for name in table if name not in more]:
                raise SystemExit(f"{path} lacks the column {missing[0]!r} of {config.path}.")
            parts[number] = list(range(len(table), len(table) + len(more)))
            #: slot check_labels
            table = pd.concat([table, more[list(table)]])
    #: slot after_split
    return [table.iloc[part] for part in parts]


@cache
def fit_columns(config) -> Columns:
    """How columns become numbers, learned only from the training rows."""
    tables = split_table(config)
    features = tables[0].drop(columns=config.target)
    ...  #: slot fit_columns
    for name in columns.categories:
        check_spelling(first_places(to_texts(features[name]).dropna()), name)
    return columns


def first_places(texts: pd.Series) -> dict[str, str]:
    """The first file and row of each text."""
    first = texts.sort_index().drop_duplicates()
    return {text: f"{file}, row {row}" for (file, row), text in first.items()}


#: region facts when project.loop=complete
def describe_data(config) -> str:
    """What was understood of the files, with a line for each fact."""
    columns, held_out = fit_columns(config), f"held out of {config.path}"
    val, test = config.val_path or held_out, config.test_path or held_out
    lines = [f"training: {config.path} | validation: {val} | test: {test}", *columns.describe()]
    lines += [f"left out: {config.drop_columns}"] if config.drop_columns else []
    #: slot described
    for table in split_table(config)[1:]:
        lines += columns.find_unknown(table)
    return "\n".join(lines)
#: end facts

#: replace split when path=given
columns = fit_columns(config)
return [
    TensorDataset(columns.transform(table), read_targets(table, config))
    for table in split_table(config)
]

#: slot check_table when missing=refuse
if empty := [str(name) for name in table.drop(columns=dropped) if table[name].isna().any()]:
    place = place_of(table, table[empty].isna().any(axis=1))
    raise SystemExit(f"{place} has empty cells in {', '.join(empty)}: fill them, or drop the rows.")

#: slot check_table when dataset=parquet
check_kinds(table.drop(columns=dropped))

#: slot read_file when dataset=csv
names, rows = read_csv(path)
table = pd.DataFrame(rows, columns=names, dtype=object).replace("", None)

#: slot read_file when dataset=parquet
try:
    table = pd.read_parquet(path, dtype_backend="numpy_nullable")  # numbers beside empty cells
    noted = (parquet.read_schema(path).pandas_metadata or {}).get("columns", [])
except (OSError, ValueError) as error:
    raise SystemExit(f"{path} can't be read: {error}") from error
if named := [name for name in table.index.names if name]:
    table = table.drop(columns=named, errors="ignore").reset_index()
kinds = {row["name"]: row["pandas_type"] for row in noted}
# read_parquet() takes categories that are numbers for numbers
categories = [name for name in table if kinds.get(name) == "categorical"]
table = table.astype(dict.fromkeys(categories, "category")).apply(read_cells)

#: slot load_table with cross_validation
def take_fold(train_rows: list[int], val_rows: list[int], config) -> list[list[int]]:
    """Split training and validation rows again: one fold of both is the validation data."""
    folds, fold = config.cross_validation_folds, config.cross_validation_fold
    if not fold < folds:
        raise SystemExit(f"--cross-validation-fold {fold}: {folds} folds are counted from 0.")
    both = [*train_rows, *val_rows]
    if len(both) < folds:
        raise SystemExit(f"--cross-validation-folds {folds}: there are {len(both)} rows.")
    # a fixed seed: the folds are the same for any --seed
    order = torch.randperm(len(both), generator=torch.Generator().manual_seed(0)).tolist()
    rest = [both[index] for place, index in enumerate(order) if place % folds != fold]
    return [rest, [both[index] for index in order[fold::folds]]]

#: slot after_split with cross_validation
parts[:2] = take_fold(parts[0], parts[1], config)  # build_model also uses this data

#: replace cross_validation_datasets with cross_validation

#: replace cross_validation_after_datasets with cross_validation
