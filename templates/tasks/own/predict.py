from pathlib import Path

from torch import Tensor

#: slot inputs
def read_inputs(config: Config, names: list[str]) -> Tensor:
    """Inputs of shape (rows, 4) from files with four numbers per line: replace it with yours."""
    rows = []
    for name in names:
        try:
            lines = Path(name).read_text(encoding="utf-8-sig").splitlines()
        except (OSError, ValueError) as error:
            raise SystemExit(f"{name} can't be read: {error}") from error
        for number, line in enumerate(lines, start=1):
            try:
                one, two, three, four = map(float, line.split(","))
            except ValueError as error:
                raise SystemExit(f"{name}, line {number}: use four numbers. {error}") from error
            rows.append([one, two, three, four])
    return torch.tensor(rows)

#: slot batches
for part in share.split(4 * config.batch_size):
    predictions = model(part.to(device)).squeeze(1)
    rows += [{"prediction": value} for value in predictions.tolist()]

#: replace rows
return [{"row": number, **row} for number, row in enumerate(gather_object(rows), start=1)]

#: slot arguments
parser.add_argument("inputs", nargs="+", metavar="FILE", help="a file with four numbers per line")
