from columns import Columns
from data import read_file

#: slot inputs
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

#: slot arguments
parser.add_argument("inputs", nargs="+", metavar="FILE", help="a file with columns as in training")
