"""The data: rows of numbers, shape (batch, columns), and targets, shape (batch,)."""

import csv

import torch
from sklearn.datasets import load_diabetes
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, TensorDataset, random_split


def load_table(config) -> tuple[Tensor, Tensor]:
    """442 patients: 10 measurements, shape (442, 10), and their diabetes a year later, (442,)."""
    rows, targets = load_diabetes(return_X_y=True, scaled=False)
    return torch.tensor(rows, dtype=torch.float32), torch.tensor(targets, dtype=torch.float32)


def build_datasets(config) -> list[Dataset]:
    """The rows of the table, split into training, validation and test data."""
    rows = TensorDataset(*load_table(config))
    # a fixed seed: another --seed must not move test samples into the training data
    rng = torch.Generator().manual_seed(0)
    parts = [part.indices for part in random_split(range(len(rows)), [0.6, 0.2, 0.2], rng)]
    return [TensorDataset(*rows[part]) for part in parts]


def parse_number(cell: str | float) -> float | None:
    """The number in a cell, or None if it is not a finite number of 32 bits."""
    if isinstance(cell, bool) or "_" in f"{cell}" or not f"{cell}".isascii():
        return None  # Python reads 1_000, and the digits of all scripts
    try:
        number = float(cell)
    except (TypeError, ValueError):
        return None
    return number if abs(number) <= torch.finfo(torch.float32).max else None


def read_csv(path: str) -> tuple[list[str], list[list[str]]]:
    """The names of the columns, and the cells of each row, without spaces around them.

    Raises SystemExit for a row that has another number of cells.
    """
    rows = []
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            lines = csv.reader(file, strict=True, skipinitialspace=True)
            names = check_names(next(lines, []), path)
            for row in filter(None, lines):
                rows.append([cell.strip() for cell in row])
                if len(row) != len(names):
                    raise SystemExit(
                        f"{path}, row {len(rows)} has {len(row)} cells, and the first line names "
                        f"{len(names)} columns: {', '.join(names):.60}. Quote a cell that has "
                        "commas, and end no row with a comma more than the first line."
                    )
                if names == [cell.strip("\ufeff") for cell in rows[-1]] and len(names) > 1:
                    raise SystemExit(
                        f"{path}, row {len(rows)} names the columns again: leave it out."
                    )
    except UnicodeDecodeError as error:
        raise SystemExit(f"{path} is not text in UTF-8: save it as CSV in UTF-8.") from error
    except (OSError, ValueError, csv.Error) as error:
        raise SystemExit(f"{path} can't be read as CSV: {error}") from error
    return names, rows


def check_names(names: list[str], path: str) -> list[str]:
    """The names of the columns. One without a name gets its number, as in pandas."""
    if len(names) < 2 and (other := [mark for mark in ";\t|" if mark in "".join(names)]):
        raise SystemExit(f"{path} has {other[0]!r} between its columns: write commas instead.")
    names = [name.strip() or f"Unnamed: {number}" for number, name in enumerate(names)]
    if twice := [name for name in names if names.count(name) > 1]:
        raise SystemExit(f"{path} has two columns {twice[0]!r}: rename one of them.")
    return names


def build_loaders(config) -> tuple[DataLoader, DataLoader, DataLoader]:
    """The training, validation and test loaders, before accelerator.prepare()."""
    train_set, val_set, test_set = build_datasets(config)
    train_loader = DataLoader(
        train_set,
        config.batch_size,
        shuffle=True,
        drop_last=True,
        num_workers=config.num_workers,
        generator=torch.Generator().manual_seed(config.seed),  # leaves dropout's RNG alone
    )
    settings = {
        "batch_size": 4 * config.batch_size,  # evaluation keeps no activations
        "num_workers": config.num_workers,
        "generator": torch.Generator(),  # else evaluating advances the RNG of dropout
    }
    val_loader, test_loader = DataLoader(val_set, **settings), DataLoader(test_set, **settings)
    return train_loader, val_loader, test_loader
