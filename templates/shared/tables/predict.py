#: when project.task=tabular_classification|tabular_regression
import csv

import torch
from torch import Tensor

from columns import Columns
from data import read_file

#: slot batches
for table in share.split(4 * config.batch_size):
    predictions = model(table.to(device))
    #: region predicted
    rows += [{"prediction": value} for value in predictions.tolist()]
    #: end predicted

#: replace rows
return [{"row": number, **row} for number, row in enumerate(gather_object(rows), start=1)]

#: slot inputs when path=given
def read_inputs(config: Config, names: list[str]) -> Tensor:
    """The rows of files with the columns of the training data, which become the same numbers."""
    columns, tables = Columns.load(config.output_dir), []
    for name in names:
        table = read_file(name)
        try:
            #: slot check_rows
            tables.append(columns.transform(table))
        except SystemExit as error:
            raise SystemExit(f"{name}: {error}") from error
    return torch.cat(tables)

#: slot arguments when path=given
parser.add_argument("inputs", nargs="+", metavar="FILE", help="a file with columns as in training")

#: slot inputs when dataset=breast_cancer|diabetes
def read_inputs(config: Config, names: list[str]) -> Tensor:
    """The rows of CSV files whose first line names the columns, in any order."""
    ...  #: slot column_names
    for name in names:
        before = len(rows)
        try:
            with open(name, encoding="utf-8-sig", newline="") as file:
                lines = csv.DictReader(file)
                found = lines.fieldnames or []
                if missing := [column for column in columns if column not in found]:
                    raise SystemExit(f"{name} lacks the columns {', '.join(missing)}.")
                for line in lines:
                    rows.append([float(line[column]) for column in columns])
        except (OSError, UnicodeError, csv.Error) as error:
            raise SystemExit(f"{name} can't be read: {error}") from error
        except (ValueError, TypeError) as error:
            raise SystemExit(f"{name}, row {len(rows) - before + 1}: {error}") from error
    return torch.tensor(rows)

#: slot arguments when dataset=breast_cancer|diabetes
parser.add_argument("inputs", nargs="+", metavar="CSV", help="a CSV file with the same columns")
