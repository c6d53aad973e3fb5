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
