#: when project.task=tabular_classification|tabular_regression
import sys

import torch
from torch import Tensor

from columns import Columns
from data import read_file
from lib.cells import parse_number, read_csv

#: slot batches
for table in share.split(4 * config.batch_size):
    predictions = model(table.to(device))
    #: region predicted
    rows += [{"prediction": value} for value in predictions.tolist()]
    #: end predicted

#: replace rows
return [{"row": number, **row} for number, row in enumerate(gather_object(rows), start=1)]

#: slot built when path=given
, Columns.load(config.output_dir)

#: slot inputs when path=given
def read_inputs(config: Config, names: list[str]) -> Tensor:
    """The rows of files with the columns of the training data, which become the same numbers."""
    columns, tables = Columns.load(config.output_dir), []
    for name in names:
        table = read_file(name)
        tables.append(columns.transform(table))
        for line in columns.find_unknown(table):
            print(line, file=sys.stderr)
    return torch.cat(tables)

#: slot arguments when path=given
parser.add_argument("inputs", nargs="+", metavar="FILE", help="a file with columns as in training")

#: slot inputs when dataset=breast_cancer|diabetes
def read_inputs(config: Config, names: list[str]) -> Tensor:
    """The rows of CSV files whose first line names the columns, in any order."""
    ...  #: slot column_names
    for name in names:
        found, lines = read_csv(name)
        if missing := [column for column in columns if column not in found]:
            raise SystemExit(f"{name} lacks the columns {', '.join(missing)}.")
        for number, line in enumerate(lines, start=1):
            cells = dict(zip(found, line, strict=True))
            row = [parse_number(cells[column]) for column in columns]
            if None in row:
                wrong = columns[row.index(None)]
                raise SystemExit(
                    f"{name}, row {number}: {wrong} is {cells[wrong]!r}, not a finite number."
                )
            rows.append(row)
    return torch.tensor(rows)

#: slot arguments when dataset=breast_cancer|diabetes
parser.add_argument("inputs", nargs="+", metavar="CSV", help="a CSV file with the same columns")

#: into load_exported.py when path=given
#: slot built
, Columns.load(folder)
