#: when dataset=csv
from functools import cache, partial
from pathlib import Path

import torch
from torch import Tensor
from torch.utils.data import random_split

from lib.cells import parse_number, read_csv, split_labels
from lib.names import check_spelling, check_once, count_names
from lib.image_bytes import to_square
from lib.images import check_images, read_image
from lib.notes import note_ignored
from lib.splits import find_shares, split_by_class

#: slot build_datasets
#: region row
Row = tuple[Path, str]  # an image, and the name of its class
#: end row


class Images(Dataset):
    """Center crops of RGB images, and {{ task.targets }}."""

    #: region init
    def __init__(self, rows: list[tuple[Path, int]], config) -> None:
        #: end init
        self.rows, self.transform = rows, partial(to_square, size=config.image_size)

    def __len__(self) -> int:
        return len(self.rows)

    #: region item
    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        #: end item
        path, target = self.rows[index]
        return read_image(path, self.transform), target


#: region class_names
def class_names(config) -> list[str]:
    """The names of the classes. A label is an index into this list."""
    return sorted({name for part in load_rows(config) for _, name in part})


#: end class_names
#: region build_datasets
def build_datasets(config) -> list[Dataset]:
    """Training, validation and test data."""
    labels = {name: label for label, name in enumerate(class_names(config))}
    if len(labels) < 2:
        raise SystemExit(f"{config.table} has one class, {min(labels)}: a classifier needs two.")
    return [
        Images([(path, labels[name]) for path, name in part], config) for part in load_rows(config)
    ]


#: end build_datasets
@cache
def load_rows(config) -> list[list[Row]]:
    """Rows for training, validation and test. A split without a table is a share of `table`."""
    tables = [config.table, config.val_table, config.test_table]
    found = [read_rows(table, config) if table else [] for table in tables]
    check_once(
        (f"{table}, row {number}", row[0])
        for table, rows in zip(tables, found, strict=True)
        for number, row in enumerate(rows, start=1)
    )
    #: region known_labels
    known: dict[str, str] = {}  # with the first place of each class
    for number, (_, name) in enumerate(found[0], start=1):
        known.setdefault(name, f"{config.table}, row {number}")
    check_spelling(known, "class")
    for table, rows in zip(tables, found, strict=True):
        for number, (_, name) in enumerate(rows, start=1):
            if name not in known:
                raise SystemExit(
                    f"{table}, row {number} has the {config.label_column} {name!r}. "
                    f"{config.table} has {', '.join(sorted(known)[:20])}."
                )
    #: end known_labels
    shares = find_shares(tables[1:], config)
    if len(found[0]) < 10 and any(shares):
        raise SystemExit(f"{config.table} has too few images to split: use 10 or more.")
    #: region divide
    parts = split_by_class([name for _, name in found[0]], shares)
    parts = [[found[0][number] for number in part] for part in parts]
    #: end divide
    return [rows or list(part) for rows, part in zip([[], *found[1:]], parts, strict=True)]


#: region describe_data when project.loop=complete without stream
def describe_data(config) -> str:
    """What was understood of the files."""
    names = (name for _, name in load_rows(config)[0])
    return f"{config.label_column} in the training data: {count_names(names)}"


#: end describe_data
def read_rows(table: str, config) -> list[Row]:
    """The images that a CSV file lists, relative to its own folder, and {{ task.listed }}."""
    rows = []
    for number, line in enumerate(list_rows(table, config), start=1):
        place = f"{table}, row {number}"
        #: region columns
        for flag, column in (("image", config.image_column), ("label", config.label_column)):
            #: end columns
            if line.get(column) is None:
                raise SystemExit(
                    f"{place}: there is no column {column!r} in {', '.join(line)}. "
                    f"Set --{flag}-column."
                )
        path = Path(table).parent / line[config.image_column]
        if not path.is_file():
            raise SystemExit(f"{place}: there is no image {path}.")
        #: region read_target
        if not (label := line[config.label_column]):
            raise SystemExit(f"{place} has no {config.label_column}: leave the row out.")
        rows.append((path, label))
        #: end read_target
    check_images([path for path, _ in rows])
    return rows


def list_rows(table: str, config) -> list[dict[str, str]]:
    """All columns of a CSV file."""
    names, rows = read_csv(table)
    if not rows:
        raise SystemExit(f"{table} has no rows.")
    #: region ignored
    note_ignored(table, names, [config.image_column, config.label_column])
    #: end ignored
    return [dict(zip(names, row, strict=True)) for row in rows]

#: replace init when labels=many|number
def __init__(self, rows: list[tuple[Path, Tensor]], config) -> None:

#: replace item when labels=many|number
def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:

#: replace divide when labels=many|number
# a fixed seed: another --seed must not move test samples into the training data
rng = torch.Generator().manual_seed(0)
parts = random_split(found[0], [1 - sum(shares), *shares], generator=rng)

#: replace columns when labels=many
for flag, column in (("image", config.image_column), ("labels", config.labels_column)):

#: replace ignored when labels=many
note_ignored(table, names, [config.image_column, config.labels_column])

#: replace ignored when labels=number
note_ignored(table, names, [config.image_column, config.number_column])

#: replace columns when labels=number
for flag, column in (("image", config.image_column), ("number", config.number_column)):

#: replace row when labels=many
Row = tuple[Path, tuple[str, ...]]  # an image, and the names of its labels

#: replace class_names when labels=many
def class_names(config) -> list[str]:
    """The names of the labels, in the order of the model's outputs."""
    names = {name for part in load_rows(config) for _, names in part for name in names}
    if not names:
        raise SystemExit(f"{config.table}: no image has a label: set --labels-column.")
    return sorted(names)

#: replace build_datasets when labels=many
def build_datasets(config) -> list[Dataset]:
    """Training, validation and test data."""
    names = class_names(config)
    parts = [
        [(path, torch.tensor([float(name in found) for name in names])) for path, found in part]
        for part in load_rows(config)
    ]
    return [Images(part, config) for part in parts]

#: replace read_target when labels=many
cell = line[config.labels_column]
labels = split_labels(cell)
if labels is None:
    raise SystemExit(
        f"{place}: its {config.labels_column} are {cell!r}, not names "
        "separated by commas."
    )
if (mark := next((mark for mark in "|;" if mark in cell), "")) and labels == (cell,):
    raise SystemExit(
        f"{place}: its {config.labels_column} are {cell!r}: write commas instead of {mark!r}, "
        "or, if it is one name, a list as in JSON."
    )
rows.append((path, labels))

#: replace row when labels=number
Row = tuple[Path, float]  # an image and its number

#: replace class_names when labels=number
def read_targets(config) -> Tensor:
    """The numbers of the training data."""
    exact = torch.tensor([number for _, number in load_rows(config)[0]], dtype=torch.float64)
    error, std = (exact - exact.float()).abs().max(), exact.std()
    if std > 0 and not error < 0.01 * std:
        raise SystemExit(
            f"{config.table}: {config.number_column} has numbers that 32 bits can't tell apart, "
            f"such as {exact[0]:.10g}: subtract a constant."
        )
    return exact.float()

#: replace build_datasets when labels=number
def build_datasets(config) -> list[Dataset]:
    """Training, validation and test data."""
    parts = load_rows(config)
    return [
        Images([(path, torch.tensor(number)) for path, number in part], config) for part in parts
    ]

#: replace read_target when labels=number
cell = line[config.number_column]
target = parse_number(cell)
if target is None:
    raise SystemExit(
        f"{place}: its {config.number_column} is {cell!r}, not a number."
    )
rows.append((path, target))

#: replace known_labels when labels=many
known: dict[str, str] = {}  # with the first place of each label
for number, (_, names) in enumerate(found[0], start=1):
    for name in names:
        known.setdefault(name, f"{config.table}, row {number}")
check_spelling(known, "label")
for table, rows in zip(tables, found, strict=True):
    for number, (_, names) in enumerate(rows, start=1):
        if wrong := {*names} - known.keys():
            raise SystemExit(
                f"{table}, row {number} has {min(wrong)!r} in its {config.labels_column}. "
                f"{config.table} has {', '.join(sorted(known)[:20])}."
            )

#: replace known_labels when labels=number

#: replace describe_data when labels=many project.loop=complete without stream
def describe_data(config) -> str:
    """What was understood of the files."""
    names = (name for _, names in load_rows(config)[0] for name in names)
    return f"{config.labels_column} in the training data: {count_names(names)}"


#: replace describe_data when labels=number
