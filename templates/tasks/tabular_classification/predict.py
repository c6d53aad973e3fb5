from sklearn.datasets import load_breast_cancer
from torch import Tensor

#: replace predicted
for probs in predictions.cpu().double().softmax(dim=1).tolist():
    prob_of = dict(zip(names, probs, strict=True))
    row = {"label": max(prob_of, key=prob_of.get)}
    rows.append(row | {f"p_{name}": prob for name, prob in prob_of.items()})

#: slot inputs when dataset=breast_cancer
def read_inputs(config: Config, names: list[str]) -> Tensor:
    """The rows of CSV files whose first line names the columns, in any order."""
    columns, rows = load_breast_cancer().feature_names, []
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

#: slot arguments when dataset=breast_cancer
parser.add_argument("inputs", nargs="+", metavar="CSV", help="a CSV file with the same columns")

#: slot before_batches when dataset=breast_cancer
names = load_breast_cancer().target_names

#: slot before_batches when path=given
names = Columns.load(config.output_dir).classes
